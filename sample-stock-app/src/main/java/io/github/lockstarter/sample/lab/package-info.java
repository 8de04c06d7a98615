// SPDX-License-Identifier: Apache-2.0

/**
 * The oversell lab: sells the same stock with one strategy after another, in instances of
 * the shop that it starts, and shows in the browser what becomes of it. Nothing else in
 * the shop knows of it. Start reading at {@link io.github.lockstarter.sample.lab.LabRun}.
 */
@NullMarked
package io.github.lockstarter.sample.lab;

import org.jspecify.annotations.NullMarked;
