// A laconic model without dependencies.
//
// predict(row) takes an object with one property per column that rules use: numbers and booleans
// (which count as 0 and 1), or text. null, undefined and NaN are missing values. It returns
//   rawPrediction  the intercept plus the weights of the rules that cover the row,
//   prediction     the class, or the number,
//   probabilities  of the classes in the order of predict.model.classes; null for a regression,
//   covered        for each rule, whether it covers the row.
// predict.model holds the rules as data.
const predict = (() => {
  "use strict";

  const model = __MODEL__;

  // A number, a text, or null where the value is missing.
  function readCell(row, { name, kind }) {
    if (!Object.prototype.hasOwnProperty.call(row, name)) {
      throw new TypeError(
        `The row must have the column ${JSON.stringify(name)}. Set it to null where it is missing.`
      );
    }
    const value = row[name];
    if (value === null || value === undefined || Number.isNaN(value)) return null;
    const isText = typeof value === "string";
    const isNumber = ["number", "boolean", "bigint"].includes(typeof value);
    if (!(kind === "any" ? isText || isNumber : kind === "text" ? isText : isNumber)) {
      const needed = { any: "text or numbers", text: "text" }[kind] ?? "numbers or booleans";
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
      default:
        throw new Error(`Unknown relation ${JSON.stringify(relation)}.`);
    }
  }

  const means = {
    identity: (rawPrediction) => rawPrediction,
    log: Math.exp,
    logistic: (rawPrediction) => 1 / (1 + Math.exp(-rawPrediction)),
  };

  function predict(row) {
    const cells = new Map(model.features.map((feature) => [feature.name, readCell(row, feature)]));
    const covered = model.rules.map(({ conditions }) =>
      conditions.every((condition) => holds(condition, cells.get(condition.feature)))
    );
    let rawPrediction = model.intercept;
    model.rules.forEach(({ weight }, position) => {
      if (covered[position]) rawPrediction += weight;
    });
    const mean = means[model.link](rawPrediction);
    if (model.classes === null) {
      return { rawPrediction, prediction: mean, probabilities: null, covered };
    }
    const prediction = model.classes[rawPrediction > 0 ? 1 : 0];
    return { rawPrediction, prediction, probabilities: [1 - mean, mean], covered };
  }

  predict.model = model;
  return predict;
})();

if (typeof module !== "undefined") module.exports = { predict };
