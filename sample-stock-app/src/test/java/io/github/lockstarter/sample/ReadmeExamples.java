// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.util.HashMap;
import java.util.Map;

import org.springframework.scheduling.annotation.Scheduled;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnContention;

/**
 * The examples of the README that are not part of the shop.
 */
class ReadmeExamples {

	private final LockTemplate lockTemplate;

	private final Shop shop;

	private final Audit audit = new Audit(new HashMap<>());

	private int reports;

	ReadmeExamples(LockTemplate lockTemplate, Shop shop) {
		this.lockTemplate = lockTemplate;
		this.shop = shop;
	}

	@Scheduled(cron = "0 0 3 * * *")
	@DistributedLock(name = "report", waitTime = "0s", onContention = OnContention.SKIP, holdAtLeast = "1h")
	public void nightlyReport() {
		this.reports++;
	}

	int deduct(long productId, int count) {
		int remaining = this.lockTemplate.execute(LockRequest.of("stock", productId), (lease) -> {
			this.audit.note(productId, lease.fencingToken());
			return this.shop.deduct(productId, count);
		});
		return remaining;
	}

	int reports() {
		return this.reports;
	}

	Audit audit() {
		return this.audit;
	}

	interface Shop {

		int deduct(long productId, int count);

	}

	record Audit(Map<Long, Long> tokens) {

		void note(long productId, long token) {
			this.tokens.put(productId, token);
		}

	}

}
