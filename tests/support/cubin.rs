//! Files of machine code that consist of a few given instructions.

/// Returns a cubin for sm_86 with a kernel `k`, which has one parameter of four bytes.
pub fn cubin(words: &[[u64; 2]]) -> Vec<u8> {
    let names = ["", ".shstrtab", ".nv.info.k", ".text.k"];
    let strings: Vec<u8> = names.iter().flat_map(|name| [name.as_bytes(), b"\0"].concat()).collect();
    let param = [[4, 0x17, 12, 0], [0; 4], [0; 4], (4u32 << 18).to_le_bytes()].concat();
    let code: Vec<u8> = words.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
    let contents = [(0u32, Vec::new()), (3, strings.clone()), (0x7000_0000, param), (1, code)];
    let (mut body, mut headers) = (Vec::new(), Vec::new());
    for (name, (kind, content)) in names.iter().zip(contents) {
        let needle = [name.as_bytes(), b"\0"].concat();
        let at = strings.windows(needle.len()).position(|part| part == needle).unwrap();
        headers.extend([at as u32, kind].iter().flat_map(|word| word.to_le_bytes()));
        let place = 64 + body.len() as u64;
        headers.extend(
            [0, 0, place, content.len() as u64, 0, 1, 0].iter().flat_map(|word: &u64| word.to_le_bytes()),
        );
        body.extend(content);
    }
    let mut file = b"\x7fELF\x02\x01\x01\x33\x07".to_vec();
    file.resize(16, 0);
    file.extend([2u16, 190].iter().flat_map(|half| half.to_le_bytes()));
    file.extend(1u32.to_le_bytes());
    file.extend([0, 0, 64 + body.len() as u64].iter().flat_map(|word| word.to_le_bytes()));
    file.extend(86u32.to_le_bytes());
    file.extend([64u16, 0, 0, 64, 4, 1].iter().flat_map(|half| half.to_le_bytes()));
    file.extend(body);
    file.extend(headers);
    file
}
