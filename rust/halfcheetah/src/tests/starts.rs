//! Starts against NumPy 2.4.6: `default_rng(seed)`, first and last numbers of both draws.

use crate::random::start;

/// Words of the seed; bits of qpos[0], qpos[8], qvel[0], qvel[8]; the sum of all velocities' bits.
const WANTED: [([u32; 2], [u64; 4], u64); 7] = [
    (
        [0, 0],
        [
            0x3f9c0cbca647ced0,
            0x3f81de69729c93f0,
            0xbfc0328877b0a096,
            0xbfa031cf35770ced,
        ],
        0x3d03e71f4a7dc17f,
    ),
    (
        [1, 0],
        [
            0x3f635e59496dac00,
            0x3f8450466aa14ff0,
            0x3f9e1e81c587d084,
            0xbf9df294085b14fa,
        ],
        0x3c5a7e2558fc3fff,
    ),
    (
        [0, 1],
        [
            0x3fb3f4626081226a,
            0x3fa71d31e7372b08,
            0x3fc8dd7d30733898,
            0x3f972e856221807b,
        ],
        0x3c89c72b39ef236c,
    ),
    (
        [4294967295, 4294967295],
        [
            0x3fa26f4a976b4fb8,
            0x3fb50679f173640a,
            0x3f69712dae7c55ae,
            0xbf3a8d60971aa567,
        ],
        0xbbf17a516d9b85f0,
    ),
    // One of its normal numbers lies in the ziggurat's tail.
    (
        [545, 0],
        [
            0xbfae806dcb757a90,
            0xbfad58d8cc025770,
            0x3f965fa4af8a2206,
            0x3fbe6afa2c17baed,
        ],
        0xbd93e6f14075ea28,
    ),
    // Here a draw is taken again: between two layers, and in the tail.
    (
        [13, 0],
        [
            0x3fb2ad79952ddf70,
            0x3fb50349f991398e,
            0x3fadb8882e9854d0,
            0xbfc7207da1b33750,
        ],
        0xbd072157fc210a20,
    ),
    (
        [7968, 0],
        [
            0x3f9752d4ac0d0474,
            0x3f9559bf90a4bd14,
            0xbf5ced3a866d3474,
            0x3fc583933f962530,
        ],
        0x3d40d0095febc663,
    ),
];

#[test]
fn starts_are_those_of_numpy() {
    for (seed, wanted, sum) in WANTED {
        let (qpos, qvel) = start(seed);
        let found = [qpos[0], qpos[8], qvel[0], qvel[8]].map(f64::to_bits);
        assert_eq!(found, wanted, "{seed:?}");
        let all = qvel
            .iter()
            .fold(0, |sum: u64, v| sum.wrapping_add(v.to_bits()));
        assert_eq!(all, sum, "{seed:?}");
    }
}
