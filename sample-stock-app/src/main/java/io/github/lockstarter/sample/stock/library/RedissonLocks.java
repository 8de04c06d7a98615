// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.library;

import java.util.concurrent.locks.Lock;

import org.redisson.api.RedissonClient;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Redisson's {@code RLock} with a wait time and no lease time, so that its watchdog
 * renews the lease. It does not notify an owner whose lock was lost, and has no fencing
 * token; its {@code RFencedLock} has one.
 */
@Component("redisson")
@Profile("libraries")
class RedissonLocks extends LibraryLock {

	private final RedissonClient redisson;

	RedissonLocks(RedissonClient redisson, Sales sales) {
		super(sales);
		this.redisson = redisson;
	}

	@Override
	Lock lock(String key) {
		return this.redisson.getLock("redisson:" + key);
	}

}
