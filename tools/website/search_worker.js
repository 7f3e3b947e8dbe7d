// The theme searches in a worker, and browsers refuse workers to pages that were opened as files.
// There an invisible frame does the worker's task, with the same messages.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => load(frame.contentDocument, one)), Promise.resolve());
      this.inside = inside;
      load(frame.contentDocument, url).then(() => {
        this.waiting.splice(0).forEach((data) => this.deliver(data));
        this.waiting = null;
      });
    }
    postMessage(data) {
      this.waiting ? this.waiting.push(data) : this.deliver(data);
    }
    deliver(data) {
      this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }
    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}

function load(page, url) {
  return new Promise((done, failed) => {
    const script = page.createElement("script");
    Object.assign(script, { src: String(url), onload: done, onerror: failed });
    page.body.appendChild(script);
  });
}
