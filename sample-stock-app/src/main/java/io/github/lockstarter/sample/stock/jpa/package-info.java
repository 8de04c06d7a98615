// SPDX-License-Identifier: Apache-2.0

/**
 * Distributed locks around JPA, in a web application whose requests each have one
 * persistence context.
 */
@NullMarked
package io.github.lockstarter.sample.stock.jpa;

import org.jspecify.annotations.NullMarked;
