-- normal_quantile(tail): the value that a standard normal variable exceeds with the probability tail, 0 < tail < 0.5 (Abramowitz and Stegun 26.2.23, error below 0.00045).
CREATE MACRO normal_quantile(tail) AS
  sqrt(-2 * ln(tail))
  - (2.515517 + 0.802853 * sqrt(-2 * ln(tail)) + 0.010328 * (-2 * ln(tail)))
    / (1 + 1.432788 * sqrt(-2 * ln(tail)) + 0.189269 * (-2 * ln(tail)) + 0.001308 * sqrt(-2 * ln(tail)) ** 3);
