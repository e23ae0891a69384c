//! Arbitrary bytes as a script: nothing panics, and what is printed is parsed to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use necrodome_judge::{
    book::Book,
    report,
    script::{parse, parse_bytes},
};
use necrodome_rules::game::Seat;

fuzz_target!(|bytes: &[u8]| {
    let (text, parsed) = parse_bytes(bytes);
    let book = Book::of(&parsed);
    for mistake in book.mistakes() {
        assert!(text.get(mistake.span.clone()).is_some());
    }
    report::judge(&book);
    report::public(&book);
    for &seat in Seat::all(book.names().len()) {
        report::player(&book, seat);
    }
    let again = parse(&parsed.script.to_string());
    assert_eq!(again.script, parsed.script);
    assert!(again.mistakes.is_empty());
});
