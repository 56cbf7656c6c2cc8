// What only Python can do: score other environments, polish, simplify, train on, prove, save.

/** Asks the studio for something; what it refuses is an error with its sentence. */
async function ask({ token, run }, path, content) {
  const response = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json", "X-Diprl-Token": token }, body: JSON.stringify({ run, ...content }),
  }).catch(() => { throw new Error("the studio has ended"); });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function studioScore(studio) {
  return async (program) => ask(studio, "/score", { text: formatProgram(program), episodes: Number(find("episodes").value) });
}

/** Asks how far a job is until it has ended. */
async function follow(studio, job, told) {
  for (;;) {
    const message = await ask(studio, "/told", { job });
    if (message.error) throw new Error(message.error);
    if (message.done) return message;
    told(message);
  }
}

/** Makes the buttons work; what a job finds becomes an edit that can be undone. */
window.studio = (history, now, signature, studio, rescore) => {
  const said = find("said"), progress = find("progress"), jobs = [...document.querySelectorAll("[data-job]")];
  let running = null;
  async function attempt(work) {
    for (const button of jobs) button.disabled = true;
    find("proved").replaceChildren();
    try {
      await work();
    } catch (error) {
      said.textContent = error.message;
    } finally {
      find("job").hidden = true;
      for (const button of jobs) button.disabled = false;
    }
  }
  async function run(kind) {
    const amount = Number(find(`${kind}-amount`)?.value ?? 0);
    running = (await ask(studio, "/job", { kind, text: formatProgram(now()), amount })).job;
    find("job").hidden = false;
    progress.removeAttribute("value");
    const found = await follow(studio, running, ({ share, words, elapsed }) => {
      if (share !== null) progress.value = share;
      said.textContent = `${words || kind}, ${elapsed.toFixed(0)} s`;
    });
    said.textContent = found.words;
    find("proved").replaceChildren(...(found.findings ?? []).map(([verdict, name, summary]) => make("li", {},
      make("span", { class: `verdict ${verdict}` }, verdict), make("strong", {}, name), make("br"), summary)));
    if (found.text) history.edit(parseProgram(found.text, signature).items);
  }
  for (const button of jobs) button.addEventListener("click", () => attempt(() => run(button.dataset.job)));
  find("stop").addEventListener("click", () => ask(studio, "/stop", { job: running }));
  find("save").addEventListener("click", () => attempt(async () => {
    said.textContent = "scoring and saving …";
    said.textContent = (await ask(studio, "/save", { text: formatProgram(now()) })).words;
  }));
  find("episodes").addEventListener("change", rescore);
};
