
// predict.interval(row) is the lower and the upper end of an interval that contains a share
// predict.model.intervals.level of targets; infinite where too few rows are known.
predict.interval = (row) => {
  const { edges, half_widths: halfWidths, lowest } = predict.model.intervals;
  const { prediction } = predict(row);
  const halfWidth = halfWidths[edges.filter((edge) => edge < prediction).length] ?? Infinity;
  const lower = prediction - halfWidth;
  return [lowest === null ? lower : Math.max(lower, lowest), prediction + halfWidth];
};

// predict.set(row) is an array of classes, which a share predict.model.intervals.level of the rows
// of each class has in it. An empty one says that the row is unlike the rows seen.
predict.set = (row) => {
  const { probabilities } = predict(row);
  const least = predict.model.intervals.least_probabilities;
  return predict.model.classes.filter((label, place) => probabilities[place] >= least[place]);
};
