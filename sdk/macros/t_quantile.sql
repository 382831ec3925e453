-- t_quantile(df): the 97.5 % quantile of Student's t distribution, for 95 % intervals; df is rounded down, which makes the interval larger.
CREATE MACRO t_quantile(df) AS
  CASE WHEN df IS NULL OR df < 1 THEN NULL
       WHEN df < 31 THEN [12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163,
                          2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.100922040,
                          2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562, 2.059538553, 2.055529439, 2.051830516,
                          2.048407142, 2.045229642, 2.042272456][floor(df)::INTEGER]
       ELSE 1.959963985 + 2.372271230 / floor(df) + 2.822498450 / floor(df) ** 2 + 2.555850450 / floor(df) ** 3 END;
