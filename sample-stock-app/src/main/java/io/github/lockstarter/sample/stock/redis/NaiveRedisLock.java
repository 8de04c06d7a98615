// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import java.util.UUID;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Patience;
import io.github.lockstarter.sample.stock.Sales;

/**
 * A sale under a key of Redis.
 */
abstract class NaiveRedisLock implements DeductionStrategy, BeanNameAware {

	private final StringRedisTemplate redis;

	private final Sales sales;

	private String name = "";

	NaiveRedisLock(StringRedisTemplate redis, Sales sales) {
		this.redis = redis;
		this.sales = sales;
	}

	@Override
	public void setBeanName(String name) {
		this.name = name;
	}

	@Override
	public int deduct(long productId, int count) {
		String key = this.name + ":" + productId;
		String owner = UUID.randomUUID().toString();
		acquire(key, owner, new Patience(productId));
		try {
			return this.sales.sell(productId, count);
		}
		finally {
			unlock(key, owner);
		}
	}

	/** Ask every few milliseconds. */
	void acquire(String key, String owner, Patience patience) {
		while (!tryLock(key, owner)) {
			patience.pause();
		}
	}

	abstract boolean tryLock(String key, String owner);

	abstract void unlock(String key, String owner);

	StringRedisTemplate redis() {
		return this.redis;
	}

}
