// Search without a server: a page that is read from a folder may not start a worker, so what the
// worker would do is done in a hidden frame of the page.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) =>
        setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      this.ready = this.load(address);
      this.inner.importScripts = async (...addresses) => {
        for (const one of addresses) await this.load(one);
      };
    }

    load(address) {
      return new Promise((done, failed) => {
        const script = this.inner.document.createElement("script");
        script.src = address;
        script.onload = done;
        script.onerror = failed;
        this.inner.document.head.append(script);
      });
    }

    async postMessage(data) {
      await this.ready;
      this.inner.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
