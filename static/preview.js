// A sample conversation on the page of a chat, drawn as a real one; nothing is sent or stored.

import { Labels } from "./labels.js";
import { Transcript } from "./transcript.js";

const page = document.getElementById("chat");
const { words, questions, sample } = JSON.parse(document.getElementById("chat-data").textContent);
const part = (name) => page.querySelector(`[data-part=${name}]`);

const labels = new Labels(questions, words, () => {});
const transcript = new Transcript(part("log"), words, (message, event) =>
  labels.draw(message, event.seq),
);
sample.lines.forEach(({ side, text }, index) => transcript.show({ seq: index + 1, side, text }));
part("log").setAttribute("aria-busy", "false");
part("bar").max = sample.minimum;
part("bar").value = sample.lines.length;
const values = {
  done: sample.lines.length,
  minimum: sample.minimum,
  left: Math.max(sample.minimum - sample.lines.length, 0),
};
const progress = values.left ? words.to_go : words.enough;
part("count").textContent = progress.replace(/\{(\w+)\}/g, (_, name) => values[name]);
part("composer").addEventListener("submit", (event) => event.preventDefault());
