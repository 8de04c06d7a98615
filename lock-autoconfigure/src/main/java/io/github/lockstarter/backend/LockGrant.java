// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.backend;

/**
 * The lock belongs to the owner that asked.
 *
 * @param fencingBase number of this tenure, strictly larger than that of every earlier
 * one of the same lock, below 2<sup>51</sup>
 */
public record LockGrant(long fencingBase) implements LockAttempt {

}
