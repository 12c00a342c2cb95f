// The chat page: what the server says becomes the page, what the participant does becomes frames.

import { Connection } from "./connection.js";
import { Labels } from "./labels.js";
import { Outbox } from "./outbox.js";
import { Transcript } from "./transcript.js";

const page = document.getElementById("chat");
const { words, questions, word_limit: wordLimit, key } = JSON.parse(
  document.getElementById("chat-data").textContent,
);
const part = (name) => page.querySelector(`[data-part=${name}]`);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const show = (name, wanted) => part(name).toggleAttribute("hidden", !wanted);
const say = (name, text) => {
  if (part(name).textContent !== text) part(name).textContent = text;
};

const tab = crypto.randomUUID(); // a reloaded page is a new tab, and the newest
const draftKey = `parley.${key}.draft`;
const revisionKey = `parley.${key}.revision`;
const box = part("text");
let lastSeen = 0;
let askedAt = null; // the last seq at which a gap was noticed
let status = { turn: null, messages: 0, minimum: 0, maximum: null, unlabelled: [] };
let leaving = false;
let roomMade = false;

const outbox = new Outbox(key, { send: (frame) => connection.send(frame), changed: drawItem });
const labels = new Labels(questions, words, ({ seq, question, value }) => {
  const revision = nextRevision();
  labelRevisions.set(`${seq}.${question}`, revision);
  outbox.add({ type: "label", seq, question, value, revision });
});
const labelRevisions = new Map(); // the newest one shown of each label
const accepted = new Map(); // the newest value that the server has of each label
const transcript = new Transcript(part("log"), words, (message, event) =>
  labels.draw(message, event.seq),
);
const connection = new Connection({
  socketUrl: new URL(page.dataset.socket, window.location.href).href.replace(/^http/, "ws"),
  framesUrl: page.dataset.frames,
  tab,
  hello: () => ({ type: "hello", last_seen: lastSeen, tab }),
  seen: () => lastSeen,
  receive,
  changed: drawConnection,
  redraw,
});

// One count over all labels of this browser, rising also between tabs and after a reload.
function nextRevision() {
  const next = Math.max(Number(localStorage.getItem(revisionKey)) + 1, Date.now());
  localStorage.setItem(revisionKey, next);
  return next;
}

// --- what the server says

const handlers = {
  event: takeEvent,
  ready: () => {
    askedAt = null;
    if (!connection.fresh) return;
    connection.fresh = false;
    part("log").setAttribute("aria-busy", "false");
    for (const item of outbox.items()) drawItem(item, "not_sent");
    outbox.resend();
    transcript.scroll();
  },
  ack: ({ id, seq }) => {
    outbox.settle(id);
    transcript.acknowledge(id, seq);
    drawComposer();
  },
  refused: ({ id, notice }) => takeRefusal(outbox.settle(id), notice),
  error: ({ notice }) => say("problem", notice),
  status: (frame) => {
    status = frame;
    if (status.ended) redraw();
    else drawStatus();
  },
  superseded: () => {
    status = { ...status, tab_is_newest: false };
    drawStatus();
  },
};

function receive(frame) {
  handlers[frame.type]?.(frame);
}

function takeEvent(event) {
  if (event.seq <= lastSeen) return;
  if (event.seq > lastSeen + 1) {
    if (askedAt === lastSeen) return; // asked already, the answer is on its way
    askedAt = lastSeen;
    connection.send({ type: "sync", last_seen: lastSeen });
    return;
  }
  lastSeen = event.seq;
  if (event.id && event.side === "you") handlers.ack(event); // a refused draft has no side
  if (event.kind === "message") transcript.show(event);
  else if (event.kind === "label" && event.side === "you") takeLabel(event);
  else if (event.kind === "notice") transcript.showNotice(event);
}

function takeLabel({ of, question, value, revision }) {
  const name = `${of}.${question}`;
  if (revision < (labelRevisions.get(name) ?? 0)) return;
  labelRevisions.set(name, revision);
  accepted.set(name, value);
  labels.mark(of, question, value);
}

function takeRefusal(item, notice) {
  if (item === null) return; // another tab has dealt with it
  const { frame } = item;
  if (frame.type === "say") {
    transcript.dropPending(frame.id);
    box.value = box.value.trim() ? `${frame.text}\n${box.value}` : frame.text;
    keepDraft();
    box.setAttribute("aria-invalid", "true");
    say("complaint", notice);
    drawComposer();
    box.focus();
    return;
  }
  say("problem", notice);
  if (frame.type === "label") {
    labels.restore(frame.seq, frame.question, accepted.get(`${frame.seq}.${frame.question}`));
  }
}

// The page that this participation is on now; at most once in a few seconds.
function redraw() {
  if (leaving) return;
  leaving = true;
  const last = Number(sessionStorage.getItem("parley.redrawn"));
  const wait = Date.now() - last < 5000 ? 5000 : 0;
  setTimeout(() => {
    sessionStorage.setItem("parley.redrawn", Date.now());
    window.location.replace(page.dataset.now);
  }, wait);
}

// --- what is shown

function drawItem(item, state) {
  if (item.frame.type === "say") transcript.showPending(item.frame.id, item.frame.text, state);
}

function drawConnection(state) {
  show("offline", state === "lost");
}

function drawStatus() {
  const { turn, messages, minimum, slow, failed, present, unlabelled } = status;
  const older = status.tab_is_newest === false;
  makeRoom();
  show("older", older);
  show("failed", Boolean(failed));
  show("retry", Boolean(failed && status.may_retry));
  if (failed) say("failed-text", status.may_retry ? words.no_answer : words.no_second_try);
  show("typing", turn === "partner" && !failed);
  say("typing-text", slow ? words.slow : words.typing);
  show("away", turn === "partner" && present === false);
  const done = Math.min(messages, minimum);
  part("bar").max = minimum;
  part("bar").value = done;
  const left = Math.max(minimum - messages, 0);
  const progress = status.must_finish ? words.full : left ? words.to_go : words.enough;
  say("count", fill(progress, { done: messages, minimum, left }));
  const missing = unlabelled ?? [];
  show("unlabelled", left === 0 && missing.length > 0 && !older);
  say("unlabelled-text", fill(words.label_missing, { count: missing.length }));
  show("finish", left === 0 && Boolean(status.may_finish) && !older);
  drawComposer();
}

function drawComposer() {
  const count = (box.value.match(/\S+/g) ?? []).length;
  const over = wordLimit !== null && count > wordLimit;
  const text = wordLimit === null ? words.word_count : words.word_limit;
  say("words", fill(text, { count, limit: wordLimit }));
  part("words").classList.toggle("is-over", over);
  const waiting = outbox.items().some((item) => item.frame.type === "say");
  const known = status.type === "status"; // before that the server decides whose turn it is
  const mine = (status.turn === "you" || !known) && status.tab_is_newest !== false && !waiting;
  part("send").disabled = !mine || count === 0;
  box.disabled = Boolean(status.must_finish);
  box.style.setProperty("block-size", "auto");
  box.style.setProperty("block-size", `${box.scrollHeight + 2}px`);
}

// On a phone the character makes room once somebody has spoken; it can be opened again.
function makeRoom() {
  const persona = page.querySelector("[data-part=persona]");
  if (!persona || roomMade || status.messages === 0) return;
  roomMade = true;
  if (window.matchMedia("(max-width: 56rem)").matches) persona.open = false;
}

// --- what the participant does

function keepDraft() {
  if (box.value) localStorage.setItem(draftKey, box.value);
  else localStorage.removeItem(draftKey);
}

function send() {
  if (part("send").disabled) {
    if (box.value.trim() && status.turn === "partner") say("complaint", words.not_your_turn);
    return;
  }
  const text = box.value.trim();
  outbox.add({ type: "say", text });
  box.value = "";
  box.removeAttribute("aria-invalid");
  say("complaint", "");
  keepDraft();
  drawComposer();
  transcript.scroll();
}

part("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
  box.focus();
});
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  send();
});
box.addEventListener("input", () => {
  keepDraft();
  say("complaint", "");
  box.removeAttribute("aria-invalid");
  drawComposer();
});
part("finish").addEventListener("click", () => outbox.add({ type: "finish" }));
part("retry").addEventListener("click", () => outbox.add({ type: "retry" }));
part("give-up").addEventListener("click", () => outbox.add({ type: "give_up" }));
part("take-over").addEventListener("click", () => connection.send({ type: "takeover", tab }));
part("unlabelled").addEventListener("click", () => labels.focusFirst(status.unlabelled));

box.value ||= localStorage.getItem(draftKey) ?? ""; // somebody may have begun before this ran
drawComposer();
connection.connect();
