// SPDX-License-Identifier: Apache-2.0

/**
 * Connects a registry to the lifecycle of its application context.
 */
@NullMarked
package io.github.lockstarter.lifecycle;

import org.jspecify.annotations.NullMarked;
