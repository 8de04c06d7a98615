// SPDX-License-Identifier: Apache-2.0

/**
 * What Micrometer is told of locks: observations of their acquisition and their hold, and
 * meters. Needs Micrometer, which all other packages do without.
 */
@NullMarked
package io.github.lockstarter.observation;

import org.jspecify.annotations.NullMarked;
