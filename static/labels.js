// The labels under each of the partner's messages: radios, a later question locked until the
// earlier one is answered yes.

import { element } from "./transcript.js";

export class Labels {
  // `send` is given {seq, question, value}.
  constructor(questions, words, send) {
    this.questions = questions;
    this.words = words;
    this.send = send;
    this.groups = new Map(); // `seq.question` to its fieldset
  }

  draw(message, seq) {
    if (this.questions.length === 0) return;
    const rows = this.questions.map((question) => this.row(seq, question));
    const box = element("div", { class: "labels", role: "group", "aria-label": this.words.labels });
    box.append(...rows);
    message.append(box);
    this.lock(seq);
  }

  row(seq, question) {
    const name = `${question.name}-${seq}`;
    const row = element("fieldset", { class: "label-row" });
    row.append(element("legend", {}, question.text));
    for (const [value, word] of question.options) {
      const input = element("input", { type: "radio", name, value, id: `${name}-${value}` });
      input.addEventListener("change", () => this.answer(seq, question.name, input.value));
      row.append(element("label", { class: "pill", for: input.id }, input, word));
    }
    if (question.only_if) row.append(element("span", { class: "label-lock" }, this.words.answer_first));
    this.groups.set(`${seq}.${question.name}`, row);
    return row;
  }

  answer(seq, question, value) {
    this.mark(seq, question, value);
    this.send({ seq, question, value });
  }

  // Show an answer, given here or in another tab.
  mark(seq, question, value) {
    const row = this.groups.get(`${seq}.${question}`);
    const input = row?.querySelector(`input[value="${CSS.escape(String(value))}"]`);
    if (input) input.checked = true;
    this.lock(seq);
  }

  // Go back to what the server has, after it refused a label.
  restore(seq, question, value) {
    const row = this.groups.get(`${seq}.${question}`);
    for (const input of row?.querySelectorAll("input") ?? []) {
      input.checked = input.value === String(value);
    }
    this.lock(seq);
  }

  value(seq, question) {
    const row = this.groups.get(`${seq}.${question}`);
    return row?.querySelector("input:checked")?.value ?? null;
  }

  lock(seq) {
    for (const question of this.questions.filter((one) => one.only_if)) {
      const row = this.groups.get(`${seq}.${question.name}`);
      row.disabled = this.value(seq, question.only_if) !== "1";
      if (row.disabled) for (const input of row.querySelectorAll("input")) input.checked = false;
    }
  }

  // Lead to the first message whose label is still missing.
  focusFirst(seqs) {
    for (const seq of seqs) {
      for (const question of this.questions) {
        const row = this.groups.get(`${seq}.${question.name}`);
        if (row && !row.disabled && this.value(seq, question.name) === null) {
          row.scrollIntoView({ block: "center" });
          row.querySelector("input").focus();
          return;
        }
      }
    }
  }
}
