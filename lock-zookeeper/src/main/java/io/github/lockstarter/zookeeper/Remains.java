// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockstarter.store.OwnerToken;

/**
 * The nodes that an earlier session of this JVM has left. They are found by the owner in
 * their content.
 */
final class Remains {

	private final Nodes nodes;

	private final ZooKeeperRequests requests;

	Remains(Nodes nodes, ZooKeeperRequests requests) {
		this.nodes = nodes;
		this.requests = requests;
	}

	/**
	 * Release the lock of an owner.
	 */
	CompletableFuture<Boolean> release(OwnerToken owner) {
		return this.nodes.view().thenCompose((view) -> {
			List<CompletableFuture<Boolean>> released = view.owners()
				.stream()
				.filter((name) -> !this.nodes.isOwn(name))
				.map((name) -> delete(this.nodes.pathOf(name), OwnNode.content(owner)))
				.toList();
			return CompletableFuture.allOf(released.toArray(CompletableFuture[]::new))
				.thenApply((all) -> released.stream().anyMatch(CompletableFuture::join));
		});
	}

	private CompletableFuture<Boolean> delete(String path, byte[] content) {
		return this.requests.read(path, null)
			.thenCompose((read) -> Arrays.equals(read.bytes(), content) ? this.requests.delete(path, read.version())
					: CompletableFuture.completedFuture(false))
			.exceptionallyCompose((ex) -> ZooKeeperRequests.isAbsent(ex) ? CompletableFuture.completedFuture(false)
					: CompletableFuture.failedFuture(ex));
	}

}
