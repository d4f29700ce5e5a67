//! Contacts with the floor and joint limits.
//!
//! Written by tools/halfcheetah/rust from generated/halfcheetah; do not edit.

use super::structures::{Contact, Limit, Load, Motion, Pose, Rows};
use crate::vector::Vector;

/// How far each capsule end is from the floor. root_z: qpos of the torso's height.
#[inline(always)]
pub(crate) fn heights<V: Vector>(places: &[Pose<V>; 7], root_z: V) -> [V; 16] {
    let token = places[0].cos.token();
    let t0 = V::of(token, 0.5).mul_add(places[0].sin, root_z);
    let t1 = V::of(token, 1.1102230246251565e-16).neg_mul_add(places[0].vers, t0);
    let t2 = t1 + V::of(token, 0.654);
    let t3 = V::of(token, -0.5).mul_add(places[0].sin, root_z);
    let t4 = V::of(token, -1.1102230246251565e-16).neg_mul_add(places[0].vers, t3);
    let t5 = t4 + V::of(token, 0.6539999999999998);
    let t6 = V::of(token, -0.7146493405538257).mul_add(places[0].sin, root_z);
    let t7 = V::of(token, 0.19672398208600017).neg_mul_add(places[0].vers, t6);
    let t8 = t7 + V::of(token, 0.8507239820860001);
    let t9 = V::of(token, -0.4853506594461742).mul_add(places[0].sin, root_z);
    let t10 = V::of(token, 0.0032760179139998263).neg_mul_add(places[0].vers, t9);
    let t11 = t10 + V::of(token, 0.6572760179139997);
    let t12 = root_z + places[1].rise;
    let t13 = V::of(token, 0.18871939418669426).neg_mul_add(places[1].sin, t12);
    let t14 = V::of(token, -0.2446903182275904).neg_mul_add(places[1].vers, t13);
    let t15 = t14 + V::of(token, 0.40930968177240956);
    let t16 = V::of(token, 0.011280605813305769).neg_mul_add(places[1].sin, t12);
    let t17 = V::of(token, -0.015309681772409586).neg_mul_add(places[1].vers, t16);
    let t18 = t17 + V::of(token, 0.6386903182275904);
    let t19 = root_z + places[2].rise;
    let t20 = V::of(token, -0.27446086117273405).neg_mul_add(places[2].sin, t19);
    let t21 = V::of(token, -0.13648516234985636).neg_mul_add(places[2].vers, t20);
    let t22 = t21 + V::of(token, 0.2675148376501436);
    let t23 = V::of(token, -0.005539138827266005).neg_mul_add(places[2].sin, t19);
    let t24 = V::of(token, -0.003514837650143668).neg_mul_add(places[2].vers, t23);
    let t25 = t24 + V::of(token, 0.4004851623498563);
    let t26 = root_z + places[3].rise;
    let t27 = V::of(token, 0.004927244951249875).neg_mul_add(places[3].sin, t26);
    let t28 = V::of(token, -0.006405535741606308).neg_mul_add(places[3].vers, t27);
    let t29 = t28 + V::of(token, 0.25759446425839366);
    let t30 = V::of(token, 0.05507275504875012).neg_mul_add(places[3].sin, t26);
    let t31 = V::of(token, -0.1875944642583937).neg_mul_add(places[3].vers, t30);
    let t32 = t31 + V::of(token, 0.07640553574160623);
    let t33 = root_z + places[4].rise;
    let t34 = V::of(token, -0.003914941666783009).neg_mul_add(places[4].sin, t33);
    let t35 = V::of(token, -0.004580049102872574).neg_mul_add(places[4].vers, t34);
    let t36 = t35 + V::of(token, 0.6494199508971273);
    let t37 = V::of(token, -0.136085058333217).neg_mul_add(places[4].sin, t33);
    let t38 = V::of(token, -0.23541995089712742).neg_mul_add(places[4].vers, t37);
    let t39 = t38 + V::of(token, 0.41858004910287255);
    let t40 = root_z + places[5].rise;
    let t41 = V::of(token, 0.005147897820126264).neg_mul_add(places[5].sin, t40);
    let t42 = V::of(token, -0.0025144248195741042).neg_mul_add(places[5].vers, t41);
    let t43 = t42 + V::of(token, 0.4114855751804259);
    let t44 = V::of(token, 0.12485210217987375).neg_mul_add(places[5].sin, t40);
    let t45 = V::of(token, -0.1774855751804259).neg_mul_add(places[5].vers, t44);
    let t46 = t45 + V::of(token, 0.23651442481957408);
    let t47 = root_z + places[6].rise;
    let t48 = V::of(token, 0.005475026862347528).neg_mul_add(places[6].sin, t47);
    let t49 = V::of(token, -0.012226506956322526).neg_mul_add(places[6].vers, t48);
    let t50 = t49 + V::of(token, 0.22177349304367744);
    let t51 = V::of(token, 0.08452497313765248).neg_mul_add(places[6].sin, t47);
    let t52 = V::of(token, -0.1277734930436775).neg_mul_add(places[6].vers, t51);
    let t53 = t52 + V::of(token, 0.10622650695632248);
    [t2, t5, t8, t11, t15, t18, t22, t25, t29, t32, t36, t39, t43, t46, t50, t53]
}

/// The contact of a capsule end at (x, z) of a body's frame.
#[inline(always)]
pub(crate) fn touch<V: Vector>(pose: &Pose<V>, moving: &Motion<V>, x: V, z: V, rest: V, inverse_weight: V, root_z: V) -> Contact<V> {
    let token = pose.cos.token();
    let t0 = pose.cos.mul_add(x, pose.x);
    let t1 = pose.sin.mul_add(z, t0);
    let t2 = root_z + pose.rise;
    let t3 = pose.sin.neg_mul_add(x, t2);
    let t4 = pose.vers.neg_mul_add(z, t3);
    let t5 = t4 + rest;
    let t6 = V::of(token, 0.5).mul_sub(t5, root_z);
    let t7 = t6 - V::of(token, 0.7);
    let t8 = t5.lt(V::zero(token));
    let t9 = t5.min(V::zero(token));
    let t10 = V::of(token, -100.0) * t9;
    let t11 = t10.min(V::of(token, 1.0));
    let t12 = t11.le(V::of(token, 0.5));
    let t13 = V::of(token, 2.0) * t11;
    let t14 = t13 * t11;
    let t15 = V::of(token, 1.0) - t11;
    let t16 = V::of(token, 2.0) * t15;
    let t17 = t16.neg_mul_add(t15, V::of(token, 1.0));
    let t18 = V::select(t12, t14, t17);
    let t19 = V::of(token, 0.7999).mul_add(t18, V::of(token, 0.0001));
    let t20 = V::of(token, 2.693965517241378) * t19;
    let t21 = V::of(token, 1.0) - t19;
    let t22 = t21 * inverse_weight;
    let t23 = t20 / t22;
    let t24 = V::select(t8, t23, V::zero(token));
    let t25 = V::of(token, 3906.2499999999995) * t19;
    let t26 = moving.turn.neg_mul_add(t1, moving.z);
    let t27 = V::of(token, 125.0) * t26;
    let t28 = t25.mul_add(t9, t27);
    let t29 = moving.turn.mul_add(t7, moving.x);
    let t30 = V::of(token, 125.0) * t29;
    Contact { x: t1, z: t7, weight: t24, normal: t28, tangent: t30 }
}

/// The weights of the rows that push when the body accelerates so.
#[inline(always)]
pub(crate) fn pushing<V: Vector>(at: &Contact<V>, speeding: &Motion<V>) -> Rows<V> {
    let token = at.x.token();
    let t0 = at.tangent + speeding.x;
    let t1 = speeding.turn.mul_add(at.z, t0);
    let t2 = at.normal + speeding.z;
    let t3 = speeding.turn.neg_mul_add(at.x, t2);
    let t4 = V::of(token, 0.4).mul_add(t1, t3);
    let t5 = t4.lt(V::zero(token));
    let t6 = V::select(t5, at.weight, V::zero(token));
    let t7 = V::of(token, 0.4).neg_mul_add(t1, t3);
    let t8 = t7.lt(V::zero(token));
    let t9 = V::select(t8, at.weight, V::zero(token));
    let t10 = t3.lt(V::zero(token));
    let t11 = V::of(token, 2.0) * at.weight;
    let t12 = V::select(t10, t11, V::zero(token));
    Rows { forward: t6, backward: t9, upward: t12 }
}

/// How late the rows are when the body accelerates so: what is below 0 pushes.
#[inline(always)]
pub(crate) fn late<V: Vector>(at: &Contact<V>, speeding: &Motion<V>) -> [V; 3] {
    let token = at.x.token();
    let t0 = at.tangent + speeding.x;
    let t1 = speeding.turn.mul_add(at.z, t0);
    let t2 = at.normal + speeding.z;
    let t3 = speeding.turn.neg_mul_add(at.x, t2);
    let t4 = V::of(token, 0.4).mul_add(t1, t3);
    let t5 = V::of(token, 0.4).neg_mul_add(t1, t3);
    [t4, t5, t3]
}

/// A body's load and push with those of a contact added.
#[inline(always)]
pub(crate) fn press<V: Vector>(at: &Contact<V>, rows: &Rows<V>, load: &Load<V>, push: &Motion<V>) -> (Load<V>, Motion<V>) {
    let token = at.x.token();
    let t0 = rows.forward - rows.backward;
    let t1 = V::of(token, 0.4) * t0;
    let t2 = rows.forward + rows.backward;
    let t3 = V::of(token, 0.16000000000000003) * t2;
    let t4 = at.z * t3;
    let t5 = at.x.neg_mul_add(t1, t4);
    let t6 = t2 + rows.upward;
    let t7 = at.x * t6;
    let t8 = at.z.neg_mul_add(t1, t7);
    let t9 = at.x.mul_add(t8, load.tt);
    let t10 = at.z.mul_add(t5, t9);
    let t11 = load.tx + t5;
    let t12 = at.z.mul_add(t1, load.tz);
    let t13 = at.x.neg_mul_add(t6, t12);
    let t14 = load.xx + t3;
    let t15 = load.xz + t1;
    let t16 = load.zz + t6;
    let t17 = t1 * at.normal;
    let t18 = t3.mul_add(at.tangent, t17);
    let t19 = t6 * at.normal;
    let t20 = t1.mul_add(at.tangent, t19);
    let t21 = at.x.mul_add(t20, push.turn);
    let t22 = at.z.neg_mul_add(t18, t21);
    let t23 = push.x - t18;
    let t24 = push.z - t20;
    (Load { tt: t10, tx: t11, tz: t13, xx: t14, xz: t15, zz: t16 }, Motion { turn: t22, x: t23, z: t24 })
}

/// The force of a contact's rows on a body that accelerates so.
#[inline(always)]
pub(crate) fn force<V: Vector>(at: &Contact<V>, rows: &Rows<V>, speeding: &Motion<V>) -> Motion<V> {
    let token = at.x.token();
    let t0 = rows.forward + rows.backward;
    let t1 = V::of(token, 0.16000000000000003) * t0;
    let t2 = at.tangent + speeding.x;
    let t3 = speeding.turn.mul_add(at.z, t2);
    let t4 = rows.forward - rows.backward;
    let t5 = V::of(token, 0.4) * t4;
    let t6 = at.normal + speeding.z;
    let t7 = speeding.turn.neg_mul_add(at.x, t6);
    let t8 = t5 * t7;
    let t9 = t1.mul_add(t3, t8);
    let t10 = t0 + rows.upward;
    let t11 = t10 * t7;
    let t12 = t5.mul_add(t3, t11);
    let t13 = at.x * t12;
    let t14 = at.z.neg_mul_add(t9, t13);
    let t15 = -t9;
    let t16 = -t12;
    Motion { turn: t14, x: t15, z: t16 }
}

/// The limit of a joint.
#[inline(always)]
pub(crate) fn limit<V: Vector>(angle: V, rate: V, low: V, high: V, inverse_weight: V) -> Limit<V> {
    let token = angle.token();
    let t0 = angle - low;
    let t1 = high - angle;
    let t2 = t0.lt(t1);
    let t3 = V::select(t2, V::of(token, 1.0), V::of(token, -1.0));
    let t4 = t0.min(t1);
    let t5 = t4.lt(V::zero(token));
    let t6 = t4.min(V::zero(token));
    let t7 = V::of(token, -33.333333333333336) * t6;
    let t8 = t7.min(V::of(token, 1.0));
    let t9 = t8.le(V::of(token, 0.5));
    let t10 = V::of(token, 2.0) * t8;
    let t11 = t10 * t8;
    let t12 = V::of(token, 1.0) - t8;
    let t13 = V::of(token, 2.0) * t12;
    let t14 = t13.neg_mul_add(t12, V::of(token, 1.0));
    let t15 = V::select(t9, t11, t14);
    let t16 = V::of(token, 0.7999).mul_add(t15, V::of(token, 0.0001));
    let t17 = V::of(token, 1.0) - t16;
    let t18 = t17 * inverse_weight;
    let t19 = t16 / t18;
    let t20 = V::select(t5, t19, V::zero(token));
    let t21 = V::of(token, 3906.2499999999995) * t16;
    let t22 = V::of(token, 125.0) * t3;
    let t23 = t22 * rate;
    let t24 = t21.mul_add(t6, t23);
    Limit { side: t3, weight: t20, target: t24 }
}

/// The joint forces of forces on the bodies.
#[inline(always)]
pub(crate) fn at_joints<V: Vector>(places: &[Pose<V>; 7], pushes: &[Motion<V>; 7]) -> [V; 9] {
    let t0 = pushes[5].x + pushes[6].x;
    let t1 = pushes[4].x + t0;
    let t2 = pushes[0].x + t1;
    let t3 = pushes[2].x + pushes[3].x;
    let t4 = pushes[1].x + t3;
    let t5 = t2 + t4;
    let t6 = pushes[5].z + pushes[6].z;
    let t7 = pushes[4].z + t6;
    let t8 = pushes[0].z + t7;
    let t9 = pushes[2].z + pushes[3].z;
    let t10 = pushes[1].z + t9;
    let t11 = t8 + t10;
    let t12 = pushes[5].turn + pushes[6].turn;
    let t13 = pushes[4].turn + t12;
    let t14 = pushes[0].turn + t13;
    let t15 = pushes[2].turn + pushes[3].turn;
    let t16 = pushes[1].turn + t15;
    let t17 = t14 + t16;
    let t18 = places[1].z.neg_mul_add(t4, t16);
    let t19 = places[1].x.mul_add(t10, t18);
    let t20 = places[2].z.neg_mul_add(t3, t15);
    let t21 = places[2].x.mul_add(t9, t20);
    let t22 = places[3].z.neg_mul_add(pushes[3].x, pushes[3].turn);
    let t23 = places[3].x.mul_add(pushes[3].z, t22);
    let t24 = places[4].z.neg_mul_add(t1, t13);
    let t25 = places[4].x.mul_add(t7, t24);
    let t26 = places[5].z.neg_mul_add(t0, t12);
    let t27 = places[5].x.mul_add(t6, t26);
    let t28 = places[6].z.neg_mul_add(pushes[6].x, pushes[6].turn);
    let t29 = places[6].x.mul_add(pushes[6].z, t28);
    [t5, t11, t17, t19, t21, t23, t25, t27, t29]
}
