// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

/**
 * A script with its keys and arguments.
 *
 * @param script the script to run
 * @param keys the lock, and companions in the same slot
 * @param arguments the other arguments
 */
record ScriptCall(LockScript script, byte[][] keys, byte[]... arguments) {

}
