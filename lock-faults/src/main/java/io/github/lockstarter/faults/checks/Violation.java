// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.List;

import io.github.lockstarter.faults.history.Attempt;

/**
 * A broken promise.
 *
 * @param check the name of the check
 * @param message a description
 * @param attempts the attempts involved
 */
public record Violation(String check, String message, List<Attempt> attempts) {

}
