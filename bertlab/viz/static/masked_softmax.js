// Softmax of each row over the keys that may be attended to. A row with nothing left is zeros, not 0 / 0.
export function maskedSoftmax(scores, mask) {
  return scores.map((row, i) => {
    const peak = Math.max(...row.filter((_, j) => mask[i][j])); // -Infinity where nothing is left
    const powers = row.map((score, j) => (mask[i][j] ? Math.exp(score - peak) : 0));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => (total === 0 ? 0 : power / total));
  });
}
