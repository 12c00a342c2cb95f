// Frames to and from the server: by websocket, else by plain HTTP, always trying to get back.
// The documents of both are docs/protocol.md.

const PING_EVERY = 15000;
const OPEN_WITHIN = 5000;
const SOCKET_TRIES = 2; // failures in a row before HTTP takes over
const SOCKET_AGAIN = 30000; // while on HTTP
const POLL_EVERY = 2500;
const LONGEST_WAIT = 30000;
const REDRAW = [1000, 1008]; // the conversation has ended, or is not ours any more

const jitter = (wait) => wait * (0.75 + Math.random() / 2);

export class Connection {
  // `tab` names this page, `hello` makes the first frame, `lastSeq` returns the last seq, `receive` takes a frame, `changed`
  // gets "open" or "lost", `redraw` is called when this page is no longer the right one.
  constructor(options) {
    Object.assign(this, options);
    this.socket = null;
    this.failures = 0;
    this.polling = false;
    this.unanswered = 0;
    this.fresh = false; // true until the first replay of a new connection is complete
    this.csrf = document.querySelector("meta[name=csrf-token]").content;
    window.addEventListener("online", () => this.wake());
    window.addEventListener("offline", () => this.drop());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.wake();
    });
    setInterval(() => this.beat(), PING_EVERY);
  }

  get open() {
    return this.socket !== null && this.socket.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.timer);
    if (this.socket !== null) return;
    const socket = new WebSocket(this.socketUrl);
    this.socket = socket;
    const slow = setTimeout(() => socket.close(), OPEN_WITHIN);
    socket.addEventListener("open", () => {
      clearTimeout(slow);
      this.unanswered = 0;
      this.fresh = true;
      this.send(this.hello());
    });
    socket.addEventListener("message", (event) => {
      this.failures = 0;
      this.unanswered = 0;
      this.polling = false;
      this.take(JSON.parse(event.data));
    });
    socket.addEventListener("close", (event) => {
      clearTimeout(slow);
      if (this.socket === socket) this.lost(event.code);
    });
  }

  lost(code) {
    this.socket = null;
    this.failures += 1;
    this.changed("lost");
    if (REDRAW.includes(code)) {
      this.redraw();
      return;
    }
    const fallBack = this.failures >= SOCKET_TRIES && navigator.onLine;
    if (fallBack && !this.polling) {
      this.polling = true;
      this.fresh = true;
      this.post(this.hello());
      this.poll();
    }
    const wait = Math.min(1000 * 2 ** (this.failures - 1), LONGEST_WAIT);
    this.timer = setTimeout(() => this.connect(), jitter(fallBack ? SOCKET_AGAIN : wait));
  }

  // Close a socket that may be dead without knowing it.
  drop() {
    const socket = this.socket;
    if (socket === null) {
      this.changed("lost");
      return;
    }
    this.lost(0);
    socket.close();
  }

  wake() {
    if (this.open) this.send({ type: "ping" });
    else this.connect();
  }

  beat() {
    if (!this.open) return;
    if (this.unanswered >= 2) {
      this.drop();
      return;
    }
    this.unanswered += 1;
    this.send({ type: "ping" });
  }

  send(frame) {
    if (this.open) this.socket.send(JSON.stringify(frame));
    else if (this.polling) this.post(frame);
  }

  take(frame) {
    this.changed("open");
    this.receive(frame);
  }

  async post(frame) {
    await this.exchange(this.framesUrl, {
      method: "POST",
      body: JSON.stringify(frame),
      headers: { "Content-Type": "application/json", "X-CSRFToken": this.csrf },
    });
  }

  async poll() {
    if (!this.polling) return;
    await this.exchange(`${this.framesUrl}&after=${this.lastSeq()}`, {});
    setTimeout(() => this.poll(), jitter(POLL_EVERY));
  }

  async exchange(url, options) {
    try {
      const headers = { Accept: "application/json", "X-Tab": this.tab, ...options.headers };
      const response = await fetch(url, { ...options, headers, redirect: "error" });
      if ([401, 403, 404, 409].includes(response.status)) this.redraw();
      else if (response.status < 500 && response.status !== 429) {
        for (const frame of (await response.json()).frames) this.take(frame);
      }
    } catch {
      this.changed("lost"); // the outbox holds, the next poll tries again
    }
  }
}
