// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;
import java.util.UUID;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * A sale under a key of Redis.
 */
abstract class NaiveRedisLock implements DeductionStrategy, BeanNameAware {

	private final StringRedisTemplate redis;

	private final NoLock sale;

	private String name = "";

	NaiveRedisLock(StringRedisTemplate redis, NoLock sale) {
		this.redis = redis;
		this.sale = sale;
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
			return this.sale.deduct(productId, count);
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

	/** {@code SETNX}. */
	boolean setIfAbsent(String key, String value) {
		return Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, value));
	}

	/** {@code SET NX EX}. */
	boolean setIfAbsent(String key, String value, Duration leaseTime) {
		return Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, value, leaseTime));
	}

}
