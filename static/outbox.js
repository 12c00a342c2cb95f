// What this browser has written and the server has not acknowledged: kept in localStorage before it
// is sent, one key per item, so that tabs do not overwrite each other and a reload loses nothing.

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;

// What a page of version 1 left behind here has its word for a message.
function read(text) {
  const item = JSON.parse(text);
  if (item?.frame.type === "say") item.frame.type = "message";
  return item;
}

export class Outbox {
  // `send` gets a frame, `changed` an item whenever its state may look different.
  constructor(key, { send, changed, storage = window.localStorage }) {
    this.prefix = `parley.${key}.outbox.`;
    this.send = send;
    this.changed = changed;
    this.storage = storage;
    this.timers = new Map();
    this.tries = new Map();
  }

  items() {
    const keys = Object.keys(this.storage).filter((name) => name.startsWith(this.prefix));
    const items = keys.map((name) => read(this.storage.getItem(name))).filter(Boolean);
    return items.sort((a, b) => a.at - b.at);
  }

  get(id) {
    const found = this.storage.getItem(this.prefix + id);
    return found === null ? null : read(found);
  }

  add(frame) {
    const item = { frame: { ...frame, id: crypto.randomUUID() }, at: Date.now() };
    this.storage.setItem(this.prefix + item.frame.id, JSON.stringify(item));
    this.changed(item, "sending");
    this.attempt(item.frame.id);
    return item;
  }

  // Take out what was acknowledged or refused.
  settle(id) {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    this.tries.delete(id);
    const item = this.get(id);
    this.storage.removeItem(this.prefix + id);
    return item;
  }

  // Send everything again at once, as after a reconnection.
  resend() {
    for (const item of this.items()) {
      this.tries.delete(item.frame.id);
      this.attempt(item.frame.id);
    }
  }

  attempt(id) {
    clearTimeout(this.timers.get(id));
    const item = this.get(id);
    if (item === null) return; // another tab has settled it
    const tries = this.tries.get(id) ?? 0;
    this.tries.set(id, tries + 1);
    this.changed(item, tries === 0 ? "sending" : "not_sent");
    this.send(item.frame);
    const wait = Math.min(FIRST_WAIT * 2 ** tries, LONGEST_WAIT);
    this.timers.set(id, setTimeout(() => this.attempt(id), wait * (0.75 + Math.random() / 2)));
  }

  clear() {
    for (const item of this.items()) this.settle(item.frame.id);
  }
}
