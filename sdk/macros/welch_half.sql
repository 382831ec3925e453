-- welch_half(var_a, runs_a, var_b, runs_b): half of the 95 % interval of a difference of two means (Welch's t), from the variances and sizes of both sets.
CREATE MACRO welch_half(var_a, runs_a, var_b, runs_b) AS
  CASE WHEN var_a = 0 AND var_b = 0 THEN 0
       ELSE sqrt(var_a / runs_a + var_b / runs_b)
            * t_quantile((var_a / runs_a + var_b / runs_b) ** 2
                         / nullif((var_a / runs_a) ** 2 / (runs_a - 1) + (var_b / runs_b) ** 2 / (runs_b - 1), 0)) END;
