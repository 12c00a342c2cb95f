// The chat page: frames of the server become the page, actions of the participant become frames.

import { Connection } from "./connection.js";
import { Labels } from "./labels.js";
import { Outbox } from "./outbox.js";
import { Transcript } from "./transcript.js";

const page = document.getElementById("chat");
const {
  words,
  questions,
  word_limit: wordLimit,
  most_characters: mostCharacters,
  key,
} = JSON.parse(document.getElementById("chat-data").textContent);
const part = (name) => page.querySelector(`[data-part=${name}]`);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const show = (name, wanted) => part(name).toggleAttribute("hidden", !wanted);
const setText = (name, text) => {
  if (part(name).textContent !== text) part(name).textContent = text;
};

const tab = crypto.randomUUID(); // a reloaded page is a new tab, and the newest
const draftKey = `parley.${key}.draft`;
const revisionKey = `parley.${key}.revision`;
const box = part("text");
let lastSeq = 0;
let answered = -1; // seq of the partner's latest message
let syncedAt = null; // the last seq at which a gap was noticed
let status = { turn: null, messages: 0, minimum: 0, maximum: null, unlabeled: [] };
let leaving = false;
let personaFolded = false;

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
  hello: () => ({ type: "hello", last_seq: lastSeq, tab }),
  lastSeq: () => lastSeq,
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

// --- frames of the server

const handlers = {
  event: takeEvent,
  ready: () => {
    syncedAt = null;
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
  error: ({ notice }) => setText("problem", notice),
  status: (frame) => {
    status = frame;
    if (status.ended) redraw();
    else drawStatus();
  },
  partial: ({ after, text }) => {
    if (status.turn === "partner" && !status.failed && after > answered) transcript.showPartial(text);
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
  if (event.seq <= lastSeq) return;
  if (event.seq > lastSeq + 1) {
    if (syncedAt === lastSeq) return; // requested already, the answer is on its way
    syncedAt = lastSeq;
    connection.send({ type: "sync", last_seq: lastSeq });
    return;
  }
  lastSeq = event.seq;
  if (event.id && event.side === "you") handlers.ack(event); // a refused draft has no side
  if (event.kind === "message") takeMessage(event);
  else if (event.kind === "label" && event.side === "you") takeLabel(event);
  else if (event.kind === "notice") transcript.showNotice(event);
}

// The turn comes with the partner's message: a net that breaks before the status must not keep it.
function takeMessage(event) {
  transcript.show(event);
  if (event.side === "partner") answered = event.seq;
  const { turn, messages, maximum } = status;
  if (event.side !== "partner" || turn !== "partner") return;
  if (maximum !== null && messages + 1 >= maximum) return;
  status = { ...status, turn: "you" };
  drawStatus();
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
  if (frame.type === "message") {
    transcript.dropPending(frame.id);
    box.value = box.value.trim() ? `${frame.text}\n${box.value}` : frame.text;
    keepDraft();
    box.setAttribute("aria-invalid", "true");
    setText("complaint", notice);
    drawComposer();
    box.focus();
    return;
  }
  setText("problem", notice);
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
    window.location.replace(page.dataset.currentStep);
  }, wait);
}

// --- drawing

function drawItem(item, state) {
  if (item.frame.type === "message") transcript.showPending(item.frame.id, item.frame.text, state);
}

function drawConnection(state) {
  show("offline", state === "lost");
  if (state === "lost") transcript.dropPartial(); // nobody knows what becomes of it
}

function drawStatus() {
  const { turn, messages, minimum, slow, failed, present, unlabeled } = status;
  const older = status.tab_is_newest === false;
  foldPersona();
  show("older", older);
  show("failed", Boolean(failed));
  show("retry", Boolean(failed && status.may_retry));
  if (failed) setText("failed-text", status.may_retry ? words.no_answer : words.no_second_try);
  show("typing", turn === "partner" && !failed);
  setText("typing-text", slow ? words.slow : words.typing);
  if (turn !== "partner" || failed) transcript.dropPartial();
  show("away", turn === "partner" && present === false);
  const done = Math.min(messages, minimum);
  part("bar").max = minimum;
  part("bar").value = done;
  const left = Math.max(minimum - messages, 0);
  const progress = status.must_finish ? words.full : left ? words.to_go : words.enough;
  setText("count", fill(progress, { done: messages, minimum, left }));
  const missing = unlabeled ?? [];
  show("unlabeled", left === 0 && missing.length > 0 && !older);
  setText("unlabeled-text", fill(words.label_missing, { count: missing.length }));
  show("finish", left === 0 && Boolean(status.may_finish) && !older);
  drawComposer();
}

function drawComposer() {
  const count = wordCount(box.value);
  const characters = characterCount();
  const over = characters > mostCharacters || (wordLimit !== null && count > wordLimit);
  const text = wordLimit === null ? words.word_count : words.word_limit;
  if (characters > 0.9 * mostCharacters) {
    setText("words", fill(words.character_limit, { count: characters, limit: mostCharacters }));
  } else {
    setText("words", fill(text, { count, limit: wordLimit }));
  }
  part("words").classList.toggle("is-over", over);
  const waiting = outbox.items().some((item) => item.frame.type === "message");
  const known = status.type === "status"; // before that the server decides whose turn it is
  const mine = (status.turn === "you" || status.free || !known) && status.tab_is_newest !== false && !waiting;
  part("send").disabled = !mine || count === 0;
  box.disabled = Boolean(status.must_finish);
  box.style.setProperty("block-size", "auto");
  box.style.setProperty("block-size", `${box.scrollHeight + 2}px`);
}

// Words as the server counts them (evaluation/checks.py): where a script puts no blanks between
// words, two characters are one.
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3134f}]+/gu;
const WIDE_MARKS = /[\u3000-\u3004\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff65]/g;

function wordCount(text) {
  const runs = text.match(UNSPACED) ?? [];
  const rest = text.replace(UNSPACED, " ").replace(WIDE_MARKS, " ").match(/\S+/g) ?? [];
  return runs.reduce((sum, run) => sum + Math.ceil([...run].length / 2), rest.length);
}

// Characters as the server counts them: an emoji is one.
function characterCount() {
  return [...box.value.trim()].length;
}

// On a phone the character folds once the first message is there; it can be opened again.
function foldPersona() {
  const persona = page.querySelector("[data-part=persona]");
  if (!persona || personaFolded || status.messages === 0) return;
  personaFolded = true;
  if (window.matchMedia("(max-width: 56rem)").matches) persona.open = false;
}

// --- actions of the participant

function keepDraft() {
  if (box.value) localStorage.setItem(draftKey, box.value);
  else localStorage.removeItem(draftKey);
}

function send() {
  if (part("send").disabled) {
    if (box.value.trim() && status.turn === "partner" && !status.free) setText("complaint", words.not_your_turn);
    return;
  }
  if (characterCount() > mostCharacters) {
    box.setAttribute("aria-invalid", "true");
    setText("complaint", words.too_long);
    return;
  }
  const text = box.value.trim();
  outbox.add({ type: "message", text });
  box.value = "";
  box.removeAttribute("aria-invalid");
  setText("complaint", "");
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
  setText("complaint", "");
  box.removeAttribute("aria-invalid");
  drawComposer();
});
part("finish").addEventListener("click", () => outbox.add({ type: "finish" }));
part("retry").addEventListener("click", () => outbox.add({ type: "retry" }));
part("give-up").addEventListener("click", () => outbox.add({ type: "give_up" }));
part("take-over").addEventListener("click", () => connection.send({ type: "takeover", tab }));
part("unlabeled").addEventListener("click", () => labels.focusFirst(status.unlabeled));

box.value ||= localStorage.getItem(draftKey) ?? ""; // somebody may have begun before this ran
drawComposer();
connection.connect();
