// Draws a conversation. Everything anybody wrote goes into text nodes, never into markup.

export const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

export class Transcript {
  constructor(log, words, decorate) {
    this.log = log;
    this.words = words;
    this.decorate = decorate; // adds what stands under a partner's message
    this.pending = new Map(); // client id to the message that is not yet in the log of events
    this.bySeq = new Map();
    this.partial = null; // the partner's reply while it is written
    this.atEnd = true;
    let height = log.clientHeight;
    log.addEventListener("scroll", () => {
      // Nobody scrolled where the log itself became smaller: the browser tells of both in one frame.
      if (log.clientHeight !== height) return;
      this.atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    });
    new ResizeObserver(() => {
      height = log.clientHeight;
      if (this.atEnd) this.scroll();
    }).observe(log);
  }

  bubble(side, text) {
    const who = side === "you" ? this.words.you : this.words.partner;
    return element(
      "article",
      { class: `msg msg-${side}` },
      element("p", { class: "msg-who" }, who),
      element("p", { class: "msg-text", dir: "auto" }, text),
    );
  }

  // A message of one's own that is on its way.
  showPending(id, text, state) {
    let message = this.pending.get(id);
    if (message === undefined) {
      message = this.bubble("you", text);
      message.append(element("p", { class: "msg-state" }));
      this.pending.set(id, message);
      this.keepAtEnd(() => this.log.append(message));
    }
    const line = message.querySelector(".msg-state");
    line.textContent = this.words[state];
    line.classList.toggle("is-late", state === "not_sent");
  }

  dropPending(id) {
    this.pending.get(id)?.remove();
    this.pending.delete(id);
  }

  // The server has it: the next event of one's own with this text is this message.
  acknowledge(id, seq) {
    const message = this.pending.get(id);
    if (message === undefined) return;
    this.pending.delete(id);
    if (this.bySeq.has(seq)) message.remove();
    else this.insert(seq, message);
    message.querySelector(".msg-state").textContent = this.words.sent;
    message.querySelector(".msg-state").classList.remove("is-late");
  }

  show(event) {
    if (this.bySeq.has(event.seq)) return;
    const message = this.bubble(event.side, event.text);
    if (event.side === "partner") this.dropPartial();
    if (event.side === "you") message.append(element("p", { class: "msg-state" }, this.words.sent));
    else this.decorate(message, event);
    this.insert(event.seq, message);
  }

  showNotice(event) {
    if (this.bySeq.has(event.seq)) return;
    this.insert(event.seq, element("p", { class: "msg-notice" }, event.notice));
  }

  insert(seq, message) {
    message.dataset.seq = seq;
    this.bySeq.set(seq, message);
    const later = [...this.log.children].find(
      (other) => !other.dataset.seq || Number(other.dataset.seq) > seq,
    );
    this.keepAtEnd(() => this.log.insertBefore(message, later ?? null));
  }

  // What the partner's reply has grown to: for the eye only, the whole message is announced once.
  showPartial(text) {
    if (!text) return this.dropPartial();
    if (this.partial === null) {
      this.partial = this.bubble("partner", text);
      this.partial.classList.add("msg-partial");
      this.partial.setAttribute("aria-hidden", "true");
      this.keepAtEnd(() => this.log.append(this.partial));
      return;
    }
    this.keepAtEnd(() => (this.partial.querySelector(".msg-text").textContent = text));
  }

  dropPartial() {
    this.partial?.remove();
    this.partial = null;
  }

  // Who reads at the end stays there; who has scrolled up is left alone.
  keepAtEnd(change) {
    const stay = this.atEnd;
    change();
    if (stay) this.scroll();
  }

  scroll() {
    this.log.scrollTop = this.log.scrollHeight;
  }
}
