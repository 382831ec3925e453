-- unsigned(value): a value of 64 bits without sign, such as an address, which tables hold as the BIGINT of the same bits.
CREATE MACRO unsigned(value) AS CASE WHEN value < 0 THEN (value::HUGEINT + 18446744073709551616)::UBIGINT ELSE value::UBIGINT END;
