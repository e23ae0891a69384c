//! `docs/schema/report.json`, `forecast.json`, `cost.json`, `match.json` and `exam.json` describe what `necrodome tournament --json`, `report --json`,
//! `tournament --plan --json`, `tournament --dry-run --json`, `match --json` and `exam --json` print: they are made from the types. Tests of the
//! command line check real documents against them.
//!
//! After a change: `UPDATE_SCHEMA=1 cargo test -p necrodome-arena documents`, then read the difference.

use necrodome_arena::{
    exam::ExamReport,
    model::CostEstimate,
    run::MatchDocument,
    tournament::{Forecast, Report},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use std::{env, fs, path::Path};

fn schema<T: JsonSchema>(title: &str) -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    schema.insert("title".into(), title.into());
    schema.to_value()
}

#[test]
fn the_schemas_of_documents_are_those_of_the_types() {
    let documents = [
        (
            "report",
            schema::<Report>("What `necrodome tournament --json` and `necrodome report --json` print"),
        ),
        ("forecast", schema::<Forecast>("What `necrodome tournament --plan --json` prints")),
        ("exam", schema::<ExamReport>("What `necrodome exam --json` prints")),
        ("match", schema::<MatchDocument<Value>>("What `necrodome match --json` prints")),
        (
            "cost",
            schema::<CostEstimate>(
                "What `--dry-run --json` prints, of `necrodome tournament` and `necrodome exam`",
            ),
        ),
    ];
    for (name, schema) in documents {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"));
        let fresh = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, &fresh).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == fresh,
            "docs/schema/{name}.json is old: UPDATE_SCHEMA=1 cargo test -p necrodome-arena documents"
        );
    }
}
