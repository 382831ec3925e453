-- t_score(t, df): the value of a standard normal variable that is exceeded as often as t of Student's t with df degrees of freedom (Wallace's approximation).
CREATE MACRO t_score(t, df) AS sign(t) * (8 * df + 1) / (8 * df + 3) * sqrt(df * ln(1 + t * t / df));
