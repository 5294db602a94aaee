"""The comparison of methods under one protocol."""
