//! Threads of a warp that wait for each other, in machine code since Turing: locks, flags, and
//! barriers of a warp on both sides of a branch. The kernels are those of
//! `tests/data/sass/turns/turns.cu`, and the expected values follow from their text.

use warpbound::exec::Options;
use warpbound::load::encoding_of;
use warpbound::program::KernelCode;
use warpbound::sass::Module;

use crate::launched::{after, words};
use crate::shipped::root;

/// The content of `i` at a thread.
fn input(thread: u32) -> u32 {
    thread * 5 + 3
}

fn results(program: &KernelCode, threads: u32) -> Vec<u32> {
    let text = format!(
        "Launch(module: \"turns\", entry: \"{}\", grid: (1, 1, 1), block: ({threads}, 1, 1), args: [
             Buffer(name: \"o\", elem: U32, len: {}, init: Zero),
             Buffer(name: \"i\", elem: U32, len: {threads}, init: File(\"i\")),
         ])",
        program.name,
        threads + 32
    );
    let file: Vec<u8> = (0..threads).flat_map(|thread| input(thread).to_le_bytes()).collect();
    let options = Options { max_instructions_per_block: 1 << 18, ..Options::default() };
    after(program, text, &file, options, |_, executor| words(executor, 0))
}

/// Returns the first words of `o`, and the result of a thread.
fn expected(kernel: &str, threads: u32) -> ([u32; 3], Box<dyn Fn(u32) -> u32>) {
    let given = |value: u32| move |thread: u32| if thread % 32 == 5 { 7 } else { value };
    match kernel {
        "lock_by_loop" => ([0, threads, 0], Box::new(|thread| input(thread) + 1)),
        "lock_by_flag" => ([0, threads, 0], Box::new(|thread| input(thread) + 2)),
        "value_by_flag" | "value_by_flag_other" => {
            let value = input(0) | 1;
            ([1, value, 0], Box::new(given(value)))
        }
        "halves_exchange" => {
            let value = |thread: u32| match thread & 16 {
                0 => input(thread ^ 16) * 3 + 2,
                _ => input(thread ^ 16) * 5 + 1,
            };
            let left = move |thread: u32| value(thread) * if thread & 16 == 0 { 7 } else { 1 };
            ([0, 0, 0], Box::new(move |thread| value(thread) + left(thread ^ 16)))
        }
        "shuffle_behind_lock" => {
            let sum = |thread: u32| (thread / 32 * 32..thread / 32 * 32 + 32).map(input).sum();
            ([0, threads, 0], Box::new(sum))
        }
        "barrier_behind_lock" => ([0, threads, 0], Box::new(move |thread| input((thread + 33) % threads))),
        "tickets" => {
            let sum = (0..threads).fold(0, |sum: u32, ticket| sum.wrapping_mul(3).wrapping_add(ticket));
            ([threads, threads, sum], Box::new(input))
        }
        other => panic!("no values for {other}"),
    }
}

#[test]
fn threads_of_a_warp_wait_for_each_other() {
    let mut launches = 0;
    for target in [75, 86, 90, 120] {
        let name = format!("tests/data/sass/turns/turns.sm_{target}.cubin");
        let bytes = std::fs::read(root().join(&name)).unwrap();
        let encoding = encoding_of(&name, &bytes).unwrap();
        let module = Module::read(&name, &bytes, encoding).unwrap();
        for entry in module.entries() {
            let program = module.program(entry, encoding).unwrap_or_else(|problems| panic!("{problems}"));
            for threads in [32, 64, 256] {
                let found = results(&program, threads);
                let (first, of_thread) = expected(entry, threads);
                assert_eq!(found[..3], first, "{name}, {entry}, {threads} threads");
                for thread in 0..threads {
                    let (found, expected) = (found[32 + thread as usize], of_thread(thread));
                    assert_eq!(found, expected, "{name}, {entry}, {threads} threads, thread {thread}");
                }
                launches += 1;
            }
        }
    }
    assert_eq!(launches, 4 * 8 * 3);
}
