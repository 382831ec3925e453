"""Answers SQL files over a dataset with Spark in local mode: one JSON document, the rows of each file.

    python spark.py DATASET QUERY.sql...
"""
import decimal
import json
import pathlib
import sys

from pyspark.sql import SparkSession

dataset, *files = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "4")
    # Runs are called as they are: run=0042 is a name.
    .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    # "commit" in double quotes is a name, as in the SQL standard.
    .config("spark.sql.ansi.enabled", "true")
    .config("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
for table in sorted(pathlib.Path(dataset).iterdir()):
    if table.is_dir() and not table.name.startswith("_") and table.name != "joined":
        # Runs of designs with other stages have other columns.
        rows = spark.read.option("mergeSchema", "true").parquet(str(table))
        rows.createOrReplaceTempView(table.name)


def plain(value):
    return float(value) if isinstance(value, decimal.Decimal) else value


answers = {}
for file in files:
    rows = spark.sql(pathlib.Path(file).read_text()).collect()
    answers[pathlib.Path(file).name] = [[plain(value) for value in row] for row in rows]
json.dump(answers, sys.stdout)
spark.stop()
