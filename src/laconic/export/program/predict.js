// A laconic model without dependencies.
//
// predict(row) takes an object with one property per column that terms use: numbers and booleans
// (which count as 0 and 1), or text. Dates are text such as 2024-03-01 or 2024-03-01 12:30, or Date
// objects or their milliseconds, which are in UTC; times of day are text or milliseconds since
// midnight, durations numbers of seconds. null, undefined and NaN are missing values. It returns
//   rawPrediction  the intercept plus what the terms add to the row,
//                  or an array of such sums, one for each of three or more classes,
//   prediction     the class, or the number,
//   probabilities  of the classes in the order of predict.model.classes; null for a regression,
//   contributions  what each term adds,
//   covered        for each rule, whether it covers the row, and for each slope, whether the row is
//                  above its lower end.
// predict.model contains the terms as data.
const predict = (() => {
  "use strict";

  const model = __MODEL__;

  const parts = {
    year: (date) => date.getUTCFullYear(),
    month: (date) => "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")[date.getUTCMonth()],
    day: (date) => date.getUTCDate(),
    weekday: (date) => "Sun Mon Tue Wed Thu Fri Sat".split(" ")[date.getUTCDay()],
    hour: (date) => date.getUTCHours(),
  };
  const clock = "(\\d\\d):(\\d\\d)(?::(\\d\\d)(?:\\.(\\d{1,6})\\d*)?)?";
  const patterns = {
    date: new RegExp(`^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ]${clock}(Z|[+-]\\d\\d:?\\d\\d)?)?$`),
    time: new RegExp(`^()()()${clock}$`),
  };

  // Microseconds of a date, a time of day or a duration.
  function readTime(value, name, kind) {
    if (kind === "duration" && typeof value === "number") return Math.round(value * 1e6);
    // Milliseconds, as those of a Date.
    if (typeof value === "number") return Math.round(value * 1000);
    if (kind === "date" && value instanceof Date) return value.getTime() * 1000;
    const found = typeof value === "string" && kind !== "duration" && patterns[kind].exec(value);
    const [, year, month, day, hour, minute, second, fraction, zone] = found || [];
    const days = year ? new Date(0).setUTCFullYear(+year, +month - 1, +day) : 0;
    const isDay = !year || new Date(days).toISOString().startsWith(`${year}-${month}-${day}`);
    if (!found || !isDay || hour > 23 || minute > 59 || second > 59) {
      throw new TypeError(
        `Column ${JSON.stringify(name)} must hold ${kind}s. Got ${JSON.stringify(value)}. ` +
          "Convert it, or set it to null where it is missing."
      );
    }
    const seconds = (+(hour ?? 0) * 60 + +(minute ?? 0)) * 60 + +(second ?? 0);
    let offset = 0;
    if (zone && zone !== "Z") {
      const minutes = +zone.slice(1, 3) * 60 + +zone.slice(-2);
      offset = (zone[0] === "-" ? -60 : 60) * minutes;
    }
    return days * 1000 + (seconds - offset) * 1e6 + +(fraction ?? "").padEnd(6, "0");
  }

  // A number, a text, or null where the value is missing.
  function readCell(row, { name, kind, part, of }) {
    if (part) {
      const date = readCell(row, { name: of, kind: "date" });
      return date === null ? null : parts[part](new Date(Math.floor(date / 1000)));
    }
    if (!Object.prototype.hasOwnProperty.call(row, name)) {
      throw new TypeError(
        `The row must have the column ${JSON.stringify(name)}. Set it to null where it is missing.`
      );
    }
    const value = row[name];
    const isDate = value instanceof Date;
    if (value === null || value === undefined) return null;
    // NaN, and invalid dates.
    if (Number.isNaN(isDate ? value.getTime() : value)) return null;
    if (["date", "time", "duration"].includes(kind)) return readTime(value, name, kind);
    const isText = typeof value === "string";
    const isNumber = ["number", "boolean", "bigint"].includes(typeof value);
    if (!(kind === "any" ? isText || isNumber || isDate : kind === "text" ? isText : isNumber)) {
      const needed = { any: "text, numbers or dates", text: "text" }[kind] ?? "numbers or booleans";
      throw new TypeError(
        `Column ${JSON.stringify(name)} must hold ${needed}. Got a value of type ${typeof value}. ` +
          "Convert it, or set it to null where it is missing."
      );
    }
    if (isText) return value;
    const number = Number(value);
    if (!Number.isFinite(number)) {
      throw new RangeError(
        `Column ${JSON.stringify(name)} contains infinity, but numbers must be finite. ` +
          "Replace it by a finite value or by null (missing)."
      );
    }
    return number;
  }

  function holds({ relation, value }, cell) {
    if (relation === "is missing") return cell === null;
    if (cell === null) return false;
    switch (relation) {
      case "is present":
        return true;
      case "<=":
        return cell <= value;
      case ">":
        return cell > value;
      case "==":
        return cell === value;
      case "!=":
        return cell !== value;
      case "in":
        return value.includes(cell);
      case "not in":
        return !value.includes(cell);
      default:
        throw new Error(`Unknown relation ${JSON.stringify(relation)}.`);
    }
  }

  // What a term adds if its weight is 1.
  function valueOf({ conditions, feature, lower, upper, missing, unit }, cells) {
    if (conditions) return conditions.every((each) => holds(each, cells.get(each.feature))) ? 1 : 0;
    const number = cells.get(feature) ?? missing;
    return (Math.min(Math.max(number, lower), upper) - lower) / unit;
  }

  // Three or more classes, each of which has a raw prediction.
  function predictClasses(contributions) {
    const rawPrediction = [...model.intercept];
    model.terms.forEach(({ output }, position) => {
      rawPrediction[output] += contributions[position];
    });
    const largest = Math.max(...rawPrediction);
    const exponentials = rawPrediction.map((each) => Math.exp(each - largest));
    const total = exponentials.reduce((sum, each) => sum + each, 0);
    const probabilities = exponentials.map((each) => each / total);
    const prediction = model.classes[rawPrediction.indexOf(largest)];
    return { rawPrediction, prediction, probabilities };
  }

  const means = {
    identity: (rawPrediction) => rawPrediction,
    log: Math.exp,
    logistic: (rawPrediction) => 1 / (1 + Math.exp(-rawPrediction)),
  };

  function predict(row) {
    const cells = new Map(model.features.map((feature) => [feature.name, readCell(row, feature)]));
    const values = model.terms.map((term) => valueOf(term, cells));
    const contributions = model.terms.map(({ weight }, position) => weight * values[position]);
    const explained = { contributions, covered: values.map((value) => value > 0) };
    if (model.link === "softmax") return { ...predictClasses(contributions), ...explained };
    const rawPrediction = contributions.reduce((sum, each) => sum + each, model.intercept);
    const mean = means[model.link](rawPrediction);
    if (model.classes === null) {
      return { rawPrediction, prediction: mean, probabilities: null, ...explained };
    }
    const prediction = model.classes[rawPrediction > 0 ? 1 : 0];
    return { rawPrediction, prediction, probabilities: [1 - mean, mean], ...explained };
  }

  predict.model = model;
  return predict;
})();

if (typeof module !== "undefined") module.exports = { predict };
