// Browsers refuse workers to pages that were opened from the disk. There a hidden frame does what the search's worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.waiting = [];
      frame.addEventListener("load", () => {
        this.send = (data) => frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
        this.waiting.forEach(this.send);
      }, { once: true });
      window.__answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const source = new URL(url, location.href).href;
      frame.srcdoc = `<script>
        self.postMessage = (data) => parent.__answer(data);
        self.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
          const script = document.createElement("script");
          script.src = url;
          script.onload = done;
          document.head.append(script);
        })), Promise.resolve());
      <\/script><script src="${source}"><\/script>`;
      document.addEventListener("DOMContentLoaded", () => document.body.append(frame));
      if (document.body) document.body.append(frame);
    }
    postMessage(data) {
      this.send ? this.send(data) : this.waiting.push(data);
    }
    terminate() {}
  };
}
