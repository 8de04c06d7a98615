// SPDX-License-Identifier: Apache-2.0

/**
 * An instance of an application, which uses locks and records its observations.
 */
@NullMarked
package io.github.lockstarter.faults.worker;

import org.jspecify.annotations.NullMarked;
