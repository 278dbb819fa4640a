// The behaviour of the page: the number of terms that are shown, and the prediction of the exported
// model for a row that the reader changes. Texts are inserted as texts, never as markup.
(() => {
  "use strict";

  const data = JSON.parse(document.getElementById("page-data").textContent);
  const byId = (id) => document.getElementById(id);
  for (const element of document.querySelectorAll(".needs-script")) element.hidden = false;

  // As format_number in formatting.py: four significant digits, all integer digits.
  function formatNumber(number) {
    const size = Math.abs(number);
    let text;
    if (size >= 1e3 && size < 1e16) text = number.toLocaleString("en", { maximumFractionDigits: 0 });
    else if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
      text = Number(number.toPrecision(4)).toExponential();
    } else text = String(Number(number.toPrecision(4)));
    return text.replaceAll("-", "−");
  }

  // Values of a column are written without commas, as they may be years.
  const formatValue = (number) => formatNumber(number).replaceAll(",", "");

  function formatWeight(number) {
    const decimals = data.weightDecimals;
    const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return (number >= 0 ? "+" : "") + number.toLocaleString("en", options).replace("-", "−");
  }

  const formatSigned = (number) => (number >= 0 ? "+" : "") + formatNumber(number);

  function count(number, noun) {
    return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  }

  // As format_percent in formatting.py.
  function formatPercent(share) {
    if (share > 0 && share < 0.001) return "<0.1%";
    if (share > 0.99 && share < 1) return ">99%";
    return `${Number((100 * share).toFixed(share >= 0.0995 ? 0 : 1))}%`;
  }

  function create(tag, properties = {}, children = []) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function createShape(tag, attributes) {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    return shape;
  }

  // Score by number of terms ----------------------------------------------------------------------

  function showSize(size) {
    const total = data.terms.length;
    byId("size-output").textContent =
      `${size} of ${count(total, "term")}, ${count(data.nConditions[size], "condition")}`;
    for (const output of document.querySelectorAll("output[data-metric]")) {
      output.textContent = formatNumber(data.metrics[output.dataset.metric][size]);
    }
    for (const chart of document.querySelectorAll("#score .chart")) {
      const points = chart.querySelectorAll(".path-point");
      points.forEach((point, position) => point.classList.toggle("is-chosen", position === size));
      const cursor = chart.querySelector(".cursor");
      for (const end of ["x1", "x2"]) cursor.setAttribute(end, points[size].getAttribute("cx"));
      const readout = chart.closest("figure").querySelector(".readout");
      readout.textContent = chart.querySelectorAll(".mark title")[size].textContent;
    }
    for (const term of document.querySelectorAll(".term[data-term]")) {
      term.classList.toggle("is-left-out", Number(term.dataset.term) > size);
    }
  }

  const sizeSlider = byId("size-slider");
  if (sizeSlider) {
    sizeSlider.addEventListener("input", () => showSize(sizeSlider.valueAsNumber));
    // A browser may restore the position of the slider.
    showSize(sizeSlider.valueAsNumber);
  }

  // Show the values of the mark under the pointer; on touch screens, keep them afterwards.
  for (const readout of document.querySelectorAll(".readout")) {
    const figure = readout.closest("figure");
    let before = null;
    const show = (text) => {
      before ??= readout.textContent;
      readout.textContent = text ?? before;
      if (text === null) before = null;
    };
    figure.addEventListener("pointerover", ({ target }) => {
      const mark = target.closest(".mark");
      if (mark) show(mark.querySelector("title").textContent);
    });
    figure.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType === "mouse" && before !== null) show(null);
    });
  }

  // Closed details would be missing on paper.
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });

  // What if --------------------------------------------------------------------------------------

  if (!byId("controls")) return;

  const { controls, typical, rows } = data.whatIf;
  const hasClasses = data.classLabels !== null;
  const values = [...typical];
  let start = [...typical];
  let announceTimer = 0;

  // A column may have any name, even that of a property of all objects.
  const rowOf = (cells) => Object.fromEntries(controls.map(({ name }, i) => [name, cells[i]]));
  const predictRow = (cells) => predict(rowOf(cells));
  // The class whose probability is shown: the second of two, or that predicted at the start.
  let focus = 1;
  const scoreOf = (result) => (hasClasses ? result.probabilities[focus] : result.prediction);
  const placeOfLargest = (numbers) => numbers.indexOf(Math.max(...numbers));

  function formatScore(score) {
    return hasClasses ? `${(100 * score).toFixed(1)}%` : formatNumber(score);
  }

  // Rounded, with all digits in the title.
  function showNumber(output, text, number) {
    output.textContent = text;
    output.title = String(number);
  }

  function showResult() {
    const result = predictRow(values);
    const score = scoreOf(result);
    const before = scoreOf(predictRow(start));
    showNumber(byId("prediction"), formatScore(score), score);
    if (hasClasses) {
      const place = data.isMany
        ? placeOfLargest(result.rawPrediction)
        : Number(result.rawPrediction > 0);
      byId("predicted-class").textContent = data.classLabels[place];
    }
    const raw = data.isMany ? result.rawPrediction[focus] : result.rawPrediction;
    showNumber(byId("raw-prediction"), formatWeight(raw), raw);
    byId("change").textContent = describeChange(score, before);
    byId("observed").textContent = describeObserved(result.contributions);
    if (data.whatIf.share) byId("interval").textContent = describeInterval();
    showGauge(score, before);
    const fired = data.terms.filter((term, position) => result.covered[position]);
    for (const item of byId("fired").querySelectorAll("[data-term]")) {
      const position = Number(item.dataset.term) - 1;
      const isFired = result.covered[position];
      item.classList.toggle("is-fired", isFired);
      // A slope adds more or less; a term that does not apply could add so much.
      const { change } = data.terms[position];
      item.querySelector(".weight").textContent =
        formatWeight(isFired ? result.contributions[position] : change);
      item.querySelector(".fired-state").textContent = isFired ? "applies: " : "does not apply: ";
    }
    const notFired = byId("n-not-fired");
    if (notFired) notFired.textContent = data.terms.length - fired.length;
    announce(score, fired);
  }

  function describeChange(score, before) {
    if (score === before) return "Same as the starting row.";
    const change = hasClasses
      ? `${formatSigned(Number((100 * (score - before)).toFixed(1)))} points`
      : formatSigned(score - before);
    return `${change} from ${formatScore(before)} for the starting row.`;
  }

  // How sure the prediction is, if the model was calibrated.
  function describeInterval() {
    const { share } = data.whatIf;
    if (hasClasses) {
      const labels = predict
        .set(rowOf(values))
        .map((label) => data.classLabels[predict.model.classes.indexOf(label)]);
      if (!labels.length) return "Unlike the rows seen: no class is likely enough.";
      const named = `Likely enough: ${labels.join(" or ")}.`;
      return `${named} About ${share} rows of each class have their class among those named.`;
    }
    const [lower, upper] = predict.interval(rowOf(values));
    if (!Number.isFinite(upper)) return "Too few such rows are known to say how far off this may be.";
    const between = `${formatNumber(lower)} and ${formatNumber(upper)}`;
    return `For about ${share} such rows the value lies between ${between}.`;
  }

  // Rows of the data to which exactly the same rules apply, and whose slopes are in the same half of
  // their ranges, and what was observed there.
  const groups = new Map(data.whatIf.groups.map((group) => [group.terms.join(), group]));

  function describeObserved(contributions) {
    const isHigh = ({ change }, i) => Math.abs(contributions[i]) > Math.abs(change) / 2;
    const group = groups.get(data.terms.filter(isHigh).map(({ number }) => number).join());
    if (!group) {
      const most = data.whatIf.max_rows_left_out;
      return most ? `At most ${count(most, "row")} like this: too few to show.` : "No rows like this.";
    }
    const { n_rows: nRows, mean_target: mean } = group;
    const rows = `${count(nRows, "row")} like this`;
    if (data.isMany) {
      const parts = group.counts.flatMap((n, place) => (n ? [`${n} ${data.classLabels[place]}`] : []));
      return `${rows}: ${parts.join(", ")}.`;
    }
    if (!hasClasses) return `${rows}: ${formatNumber(mean)}${nRows > 1 ? " on average" : ""}.`;
    if (nRows >= 20) return `${rows}: ${formatPercent(mean)} ${data.classLabels[1]}.`;
    const label = data.classLabels[mean > 0 ? 1 : 0];
    if (nRows === 1) return `${rows}: ${label}.`;
    const share = mean === 0 ? "none" : mean === 1 ? "all" : Math.round(mean * nRows);
    return `${rows}: ${share} of them ${data.classLabels[1]}.`;
  }

  function showGauge(score, before) {
    const [low, high] = data.targetRange;
    const place = (number) => 100 * Math.min(1, Math.max(0, (number - low) / (high - low || 1)));
    byId("gauge-fill").setAttribute("width", place(score));
    byId("gauge-start").setAttribute("x", Math.min(99.3, place(before)));
  }

  // Announced once, when the reader stops moving a control.
  function announce(score, fired) {
    clearTimeout(announceTimer);
    announceTimer = setTimeout(() => {
      const what = hasClasses ? `Probability of ${data.classLabels[focus]}` : "Prediction";
      const terms = fired.length ? `terms ${fired.map((term) => term.number).join(", ")}` : "no term";
      byId("announcement").textContent = `${what} ${formatScore(score)}; ${terms} apply.`;
    }, 400);
  }

  // The prediction at each stop of a slider, with all other features as they are.
  function scoresAlong(position) {
    return controls[position].stops.map((stop) => scoreOf(predictRow(values.with(position, stop))));
  }

  function drawProfiles() {
    const lines = profiles.map(({ position }) => scoresAlong(position));
    const lowest = hasClasses ? 0 : Math.min(...lines.flat());
    const highest = hasClasses ? 1 : Math.max(...lines.flat());
    profiles.forEach((profile, i) => drawProfile(profile, lines[i], lowest, highest));
  }

  // A line, of steps unless a slope uses the feature, and a mark at the position of the slider.
  function drawProfile({ svg, position }, scores, lowest, highest) {
    const width = 100 / (scores.length - 1);
    const y = (score) => 26 - 24 * (highest > lowest ? (score - lowest) / (highest - lowest) : 0.5);
    const isSloped = controls[position].is_sloped;
    const to = (i, score) => (isSloped ? `L${i * width},${y(score)}` : `H${(i - 0.5) * width}V${y(score)}`);
    const steps = scores.map((score, i) => (i === 0 ? `M0,${y(score)}` : to(i, score)));
    svg.querySelector(".profile-line").setAttribute("d", `${steps.join("")}H100`);
    svg.querySelector(".profile-area").setAttribute("d", `${steps.join("")}H100V28H0Z`);
    const here = svg.querySelector(".profile-here");
    const value = values[position];
    const x = value === null ? -10 : width * placeOf(value, controls[position].stops);
    for (const end of ["x1", "x2"]) here.setAttribute(end, x);
  }

  let isDrawing = false;
  function update() {
    showResult();
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      drawProfiles();
    });
  }

  function setValue(position, value) {
    values[position] = value;
    update();
  }

  // The position of a number among the stops of a slider, which may be between two of them.
  function placeOf(value, stops) {
    const after = stops.findIndex((stop) => stop >= value);
    if (after <= 0) return after === 0 ? 0 : stops.length - 1;
    return after - (stops[after] - value) / (stops[after] - stops[after - 1]);
  }

  // One control per feature. `show` updates a control to a value that was set elsewhere.
  const profiles = [];

  function missingBox(position, read, others) {
    const box = create("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      for (const other of others) other.disabled = box.checked;
      setValue(position, box.checked ? null : read());
    });
    return { box, label: create("label", { className: "missing" }, [box, "missing"]) };
  }

  function formatTime(kind, value) {
    if (kind === "duration") return `${formatValue(value)} s`;
    const text = new Date(value).toISOString().replace("T", " ").replace(/(:00)?\.\d+Z$/, "");
    return kind === "date" ? text.slice(0, 10) : kind === "time" ? text.slice(11) : text;
  }

  function numberControl(position, { label, stops, kind }, group) {
    const isTime = ["date", "datetime", "time", "duration"].includes(kind);
    const format = (value) => (isTime ? formatTime(kind, value) : formatValue(value));
    const [low, high] = [stops[0], stops.at(-1)];
    const slider = create("input", { type: "range", min: 0, max: stops.length - 1, step: 1 });
    const moveSlider = (value) => {
      slider.value = Math.round(placeOf(value, stops));
      slider.setAttribute("aria-valuetext", format(value));
    };
    const type = { date: "date", datetime: "datetime-local", time: "time" }[kind] ?? "number";
    const step = { integer: 1, date: 1 }[kind] ?? "any";
    const number = create("input", { type, step });
    slider.setAttribute("aria-label", label);
    number.setAttribute("aria-label", `${label}, exact value`);
    const read = () => (Number.isFinite(number.valueAsNumber) ? number.valueAsNumber : low);
    const { box, label: missing } = missingBox(position, read, [slider, number]);
    slider.addEventListener("input", () => {
      const value = stops[slider.valueAsNumber];
      number.valueAsNumber = value;
      slider.setAttribute("aria-valuetext", format(value));
      setValue(position, value);
    });
    number.addEventListener("input", () => {
      if (!Number.isFinite(number.valueAsNumber)) return;
      moveSlider(number.valueAsNumber);
      setValue(position, number.valueAsNumber);
    });
    const svg = createShape("svg", {
      class: "profile", viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true",
    });
    svg.append(
      createShape("line", { class: "profile-base", x1: 0, x2: 100, y1: 27.5, y2: 27.5 }),
      createShape("path", { class: "profile-area", d: "" }),
      createShape("path", { class: "profile-line", d: "" }),
      createShape("line", { class: "profile-here", x1: 0, x2: 0, y1: 0, y2: 28 })
    );
    profiles.push({ svg, position });
    group.append(
      create("div", { className: "control-head" }, [
        create("span", { className: "control-name", textContent: label }), number,
      ]),
      slider,
      svg,
      create("div", { className: "control-foot" }, [
        create("span", { textContent: format(low) }),
        missing,
        create("span", { textContent: format(high) }),
      ])
    );
    return (value) => {
      box.checked = value === null;
      slider.disabled = number.disabled = box.checked;
      if (value === null) return;
      number.valueAsNumber = value;
      moveSlider(value);
    };
  }

  function switchControl(position, { label }, group) {
    const box = create("input", { type: "checkbox" });
    box.setAttribute("role", "switch");
    box.setAttribute("aria-label", label);
    const state = create("span");
    const showState = () => { state.textContent = box.checked ? "true" : "false"; };
    const { box: missing, label: missingLabel } = missingBox(position, () => box.checked, [box]);
    box.addEventListener("change", () => {
      showState();
      setValue(position, box.checked);
    });
    group.append(
      create("div", { className: "control-head" }, [
        create("span", { className: "control-name", textContent: label }), missingLabel,
      ]),
      create("label", { className: "switch" }, [box, state])
    );
    return (value) => {
      missing.checked = value === null;
      box.disabled = missing.checked;
      if (value !== null) box.checked = Boolean(value);
      showState();
    };
  }

  function menuControl(position, { label, options, other }, group) {
    const cells = [...options.map(({ value }) => value), other, null];
    const labels = [...options.map((option) => option.label), "any other value", "missing"];
    const menu = create("select");
    menu.setAttribute("aria-label", label);
    menu.append(...labels.map((text, i) => create("option", { value: i, textContent: text })));
    menu.addEventListener("change", () => setValue(position, cells[menu.selectedIndex]));
    group.append(create("span", { className: "control-name", textContent: label }), menu);
    return (value) => { menu.selectedIndex = cells.indexOf(value); };
  }

  const makers = {
    number: numberControl, integer: numberControl, date: numberControl, datetime: numberControl,
    time: numberControl, duration: numberControl, boolean: switchControl, category: menuControl,
  };
  const showers = controls.map((control, position) => {
    const group = create("div", { className: `control is-${control.kind}` });
    group.dataset.control = position;
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", control.label);
    byId("control-list").append(group);
    return makers[control.kind](position, control, group);
  });

  function startFrom(cells) {
    start = [...cells];
    cells.forEach((value, position) => {
      values[position] = value;
      showers[position](value);
    });
    if (data.isMany) {
      focus = placeOfLargest(predictRow(start).rawPrediction);
      byId("prediction-label").textContent = `probability of ${data.classLabels[focus]}`;
      byId("sum-label").textContent = ` for ${data.classLabels[focus]}`;
    }
    update();
  }

  const startRow = byId("start-row");
  const chosenRow = () => (startRow.value === "" ? typical : rows[Number(startRow.value)].values);
  startRow.addEventListener("change", () => startFrom(chosenRow()));
  byId("reset").addEventListener("click", () => startFrom(chosenRow()));
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  startFrom(chosenRow());
})();
