// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.memory.MemoryLockStore;

/**
 * A program without Spring that acquires locks in every way.
 */
public final class ProgramWithoutSpring {

	private ProgramWithoutSpring() {
	}

	@DistributedLock(name = "stock")
	public static void main(String[] arguments) throws Exception {
		LockRequest stock = LockRequest.of("stock", 1001);
		try (DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore())) {
			LockTemplate template = new LockTemplate(registry);
			long first = template.execute(stock, Lease::fencingToken);
			long second = registry.acquireAsync(stock)
				.thenCompose((lease) -> lease.closeAsync().thenApply((closed) -> lease.fencingToken()))
				.get(10, TimeUnit.SECONDS);
			Lock lock = registry.readWriteLock(stock.key()).readLock();
			lock.lock();
			lock.unlock();
			registry.drain();
			System.out.println("grows: " + (second > first));
		}
		System.out.println("annotated: " + ProgramWithoutSpring.class.getMethod("main", String[].class)
			.isAnnotationPresent(DistributedLock.class));
		System.out.println("Spring: "
				+ (ProgramWithoutSpring.class.getResource("/org/springframework/core/SpringVersion.class") != null));
	}

}
