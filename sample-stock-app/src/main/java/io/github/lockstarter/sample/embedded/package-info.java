// SPDX-License-Identifier: Apache-2.0

/**
 * Redis and database for a shop that was started without any: shared by all instances on
 * this computer, reachable on the loopback interface only.
 */
@NullMarked
package io.github.lockstarter.sample.embedded;

import org.jspecify.annotations.NullMarked;
