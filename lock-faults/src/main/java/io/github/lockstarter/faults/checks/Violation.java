// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.List;

import io.github.lockstarter.faults.history.Attempt;

/**
 * Something that must not be.
 *
 * @param check what was checked
 * @param message what is wrong
 * @param attempts who took part in it
 */
public record Violation(String check, String message, List<Attempt> attempts) {

}
