// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.stream.Stream;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnLost;

/**
 * The examples of the reference documentation that are not part of the shop.
 */
class ReferenceExamples {

	private final LockRegistry lockRegistry;

	private final Map<Long, Integer> stock = new ConcurrentHashMap<>();

	private final Map<Long, Long> accounts = new ConcurrentHashMap<>();

	private int tickets;

	private long lastToken;

	private boolean stopped;

	ReferenceExamples(LockRegistry lockRegistry) {
		this.lockRegistry = lockRegistry;
	}

	@DistributedLock(name = "stock", key = "#productId", mode = LockMode.READ)
	public int count(long productId) {
		return this.stock.getOrDefault(productId, 0);
	}

	@DistributedLock(name = "stock", key = "#productId", mode = LockMode.WRITE)
	public void add(long productId, int count) {
		this.stock.merge(productId, count, Integer::sum);
	}

	int addThroughTheJdk(long productId) {
		ReadWriteLock lock = this.lockRegistry.readWriteLock(LockKey.of("stock", productId));
		lock.writeLock().lock();
		try {
			return this.stock.merge(productId, 1, Integer::sum);
		}
		finally {
			lock.writeLock().unlock();
		}
	}

	@DistributedLock(name = "ticket-counter", mode = LockMode.FAIR, waitTime = "1m")
	public int nextTicket() {
		return ++this.tickets;
	}

	@DistributedLock(name = "stock", key = "#basket.keySet()")
	public boolean deductAll(Map<Long, Integer> basket) {
		if (!basket.entrySet().stream().allMatch((item) -> this.stock.get(item.getKey()) >= item.getValue())) {
			return false;
		}
		basket.forEach((productId, count) -> this.stock.merge(productId, -count, Integer::sum));
		return true;
	}

	@DistributedLock(name = "bank", mode = LockMode.READ)
	@DistributedLock(name = "account", key = "#from")
	@DistributedLock(name = "account", key = "#to")
	public void transfer(long from, long to, long amount) {
		this.accounts.merge(from, -amount, Long::sum);
		this.accounts.merge(to, amount, Long::sum);
	}

	@DistributedLock(name = "stock", key = "#productIds")
	public List<Long> tokens(Set<Long> productIds) {
		LeaseSet leases = LeaseSet.current();
		return productIds.stream().map((id) -> leases.get(LockKey.of("stock", id)).fencingToken()).toList();
	}

	Optional<List<Long>> tryBoth(long from, long to) {
		List<LockRequest> both = Stream.of(from, to)
			.map((id) -> LockRequest.of("account", id).withWaitTime(Duration.ZERO))
			.toList();
		Optional<LeaseSet> leases = this.lockRegistry.tryAcquireAll(both);
		try (LeaseSet held = leases.orElse(null)) {
			return leases.map((each) -> each.all().stream().map(Lease::fencingToken).toList());
		}
	}

	@DistributedLock(name = "import", onLost = OnLost.INTERRUPT)
	public void importAll(Iterable<String> rows) {
		Lease lease = Lease.current();
		this.lastToken = lease.fencingToken();
		for (String row : rows) {
			lease.ensureHeld();
			importOne(row);
		}
	}

	private void importOne(String row) {
		this.stopped |= row.isEmpty();
	}

	long account(long id) {
		return this.accounts.getOrDefault(id, 0L);
	}

	long lastToken() {
		return this.lastToken;
	}

	boolean stopped() {
		return this.stopped;
	}

}
