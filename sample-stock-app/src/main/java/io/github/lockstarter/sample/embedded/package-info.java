// SPDX-License-Identifier: Apache-2.0

/**
 * Redis and database for a shop that was started without them, and the servers of the
 * profiles for other stores. All instances on this computer share them.
 */
@NullMarked
package io.github.lockstarter.sample.embedded;

import org.jspecify.annotations.NullMarked;
