// Labels under each of the partner's messages, whatever their kind: a row of options, or the one
// input that the question describes. A question is locked until the one it depends on opens it.

import { element } from "./transcript.js";

// Show a value, "" for none.
function write(row, value) {
  for (const input of row?.querySelectorAll("input") ?? []) {
    if (input.type === "radio") {
      input.checked = input.value === String(value);
    } else {
      input.value = value;
      input.toggleAttribute("data-untouched", value === "");
    }
  }
}

export class Labels {
  // `send` gets {seq, question, value}.
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
    const legend = element("legend", {}, element("span", question.marks, question.text));
    if (question.note) legend.append(` ${question.note}`);
    row.append(legend);
    const send = (input) => this.answer(seq, question.name, input.value);
    for (const [number, [value, word]] of question.options.entries()) {
      const input = element("input", { type: "radio", name, value, id: `${name}-${value}` });
      input.addEventListener("change", () => send(input));
      row.append(element("label", { class: "pill", for: input.id }, input, element("span", question.option_marks[number], word)));
    }
    if (question.options.length === 0) row.append(this.single(name, question, send));
    if (question.only_if) row.append(element("span", { class: "label-lock" }, this.words.answer_first));
    this.groups.set(`${seq}.${question.name}`, row);
    return row;
  }

  // One input, without an answer until it is touched: a click, or the space bar, that leaves a slider
  // where it stands counts. The type comes after the limits, between which a slider then stands in
  // the middle.
  single(name, question, send) {
    const { type, ...limits } = question.input;
    const about = { "aria-label": question.text, "data-untouched": "" };
    const input = element("input", { ...limits, ...about, name, type });
    const answerUnmoved = () => {
      if (input.type === "range" && "untouched" in input.dataset) send(input);
    };
    input.addEventListener("change", () => send(input));
    input.addEventListener("click", answerUnmoved);
    input.addEventListener("keydown", (event) => {
      if (event.key === " ") answerUnmoved();
    });
    return input;
  }

  answer(seq, question, value) {
    this.mark(seq, question, value);
    this.send({ seq, question, value });
  }

  // Show an answer, made here or in another tab.
  mark(seq, question, value) {
    write(this.groups.get(`${seq}.${question}`), value);
    this.lock(seq);
  }

  // Go back to what the server has, after it refused a label.
  restore(seq, question, value) {
    write(this.groups.get(`${seq}.${question}`), value ?? "");
    this.lock(seq);
  }

  value(seq, question) {
    const row = this.groups.get(`${seq}.${question}`);
    const answered = "input:checked, input:not([type=radio], [data-untouched])";
    return row?.querySelector(answered)?.value ?? null;
  }

  lock(seq) {
    for (const question of this.questions.filter((one) => one.only_if)) {
      const row = this.groups.get(`${seq}.${question.name}`);
      row.disabled = !question.only_if_values.includes(this.value(seq, question.only_if));
      if (row.disabled) write(row, "");
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
