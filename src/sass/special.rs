//! Special registers by number.

/// As disassemblers call a special register.
pub(super) fn special_name(number: u8) -> String {
    let name = match number {
        0x00 => "SR_LANEID",
        0x02 => "SR_VIRTCFG",
        0x03 => "SR_VIRTID",
        0x20 => "SR_TID",
        0x21 => "SR_TID.X",
        0x22 => "SR_TID.Y",
        0x23 => "SR_TID.Z",
        0x25 => "SR_CTAID.X",
        0x26 => "SR_CTAID.Y",
        0x27 => "SR_CTAID.Z",
        0x28 => "SR_NTID",
        0x30 => "SR_SWINLO",
        0x31 => "SR_SWINSZ",
        0x32 => "SR_SMEMSZ",
        0x33 => "SR_SMEMBANKS",
        0x34 => "SR_LWINLO",
        0x35 => "SR_LWINSZ",
        0x36 => "SR_LMEMLOSZ",
        0x37 => "SR_LMEMHIOFF",
        0x38 => "SR_EQMASK",
        0x39 => "SR_LTMASK",
        0x3a => "SR_LEMASK",
        0x3b => "SR_GTMASK",
        0x3c => "SR_GEMASK",
        0x50 => "SR_CLOCKLO",
        0x51 => "SR_CLOCKHI",
        0x52 => "SR_GLOBALTIMERLO",
        0x53 => "SR_GLOBALTIMERHI",
        other => return format!("SR{other}"),
    };
    name.to_owned()
}
