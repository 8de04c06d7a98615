// SPDX-License-Identifier: Apache-2.0

/**
 * The database alone keeps the books.
 */
@NullMarked
package io.github.lockstarter.sample.stock.database;

import org.jspecify.annotations.NullMarked;
