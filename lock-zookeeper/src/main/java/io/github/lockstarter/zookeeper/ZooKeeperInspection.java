// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;

/**
 * Shows the locks of an ensemble. Their nodes do not tell whether the first one has the
 * lock or only its turn, so both count. A lease ends with its session, which nobody else
 * knows.
 */
final class ZooKeeperInspection implements LockInspection {

	private final ZooKeeperLockStore store;

	ZooKeeperInspection(ZooKeeperLockStore store) {
		this.store = store;
	}

	@Override
	public CompletionStage<State> inspect(LockKey key) {
		return ask(key, State.UNKNOWN, (lock) -> lock.owners().thenApply((owners) -> {
			List<Holder> holders = new ArrayList<>();
			long last = 0;
			for (Owner owner : owners) {
				long token = LockInspection.tokenOf(lock.bases().of(owner.stat().getMzxid()));
				holders.add(Holder.of(owner.node().id(),
						owner.node().isExclusive() ? LockMode.EXCLUSIVE : LockMode.READ, null, token));
				last = Math.max(last, token);
			}
			List<NodeName> names = lock.view().names();
			return new State(holders, last,
					names.subList(lock.view().owners().size(), names.size())
						.stream()
						.map(ZooKeeperInspection::nameOf)
						.toList());
		}));
	}

	private static String nameOf(NodeName node) {
		return OwnerToken.holder(node.id());
	}

	@Override
	public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
		long base = LockInspection.baseOf(fencingToken);
		return ask(key, false,
				(lock) -> lock.owners()
					.thenCompose((owners) -> owners.stream()
						.filter((owner) -> lock.bases().of(owner.stat().getMzxid()) == base)
						.findFirst()
						.map(lock::delete)
						.orElse(CompletableFuture.completedFuture(false))));
	}

	/** The first request may come before the session has begun. */
	private <T> CompletableFuture<T> ask(LockKey key, T absent, Function<Lock, CompletableFuture<T>> question) {
		return this.store.limit(this.store.connect()
			.thenCompose((connected) -> askNow(key, question))
			.exceptionallyCompose((ex) -> ZooKeeperRequests.isAbsent(ex) ? CompletableFuture.completedFuture(absent)
					: CompletableFuture.failedFuture(ex))
			.toCompletableFuture());
	}

	private <T> CompletableFuture<T> askNow(LockKey key, Function<Lock, CompletableFuture<T>> question) {
		try {
			LockSession session = this.store.current();
			Nodes nodes = new Nodes(session.pathOf(key), session);
			return nodes.currentView()
				.thenCompose((view) -> session.requests()
					.look(session.pathOf(key))
					.thenCompose((stat) -> session.bases(stat.getCzxid()))
					.thenCompose((bases) -> question.apply(new Lock(nodes, view, session.requests(), bases))));
		}
		catch (Exception ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * A lock with its line.
	 */
	private record Lock(Nodes nodes, LineView view, ZooKeeperRequests requests, FencingBases bases) {

		/**
		 * Return the owners, except those that have left since the line was read.
		 */
		CompletableFuture<List<Owner>> owners() {
			List<CompletableFuture<@Nullable Owner>> asked = this.view.owners().stream().map(this::owner).toList();
			return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new)).thenApply((all) -> {
				List<Owner> owners = new ArrayList<>();
				for (CompletableFuture<@Nullable Owner> each : asked) {
					Owner owner = each.join();
					if (owner != null) {
						owners.add(owner);
					}
				}
				return owners;
			});
		}

		private CompletableFuture<@Nullable Owner> owner(NodeName name) {
			CompletableFuture<@Nullable Owner> owner = this.requests.look(this.nodes.pathOf(name))
				.thenApply((stat) -> new Owner(name, stat));
			return owner.exceptionallyCompose((ex) -> ZooKeeperRequests.isAbsent(ex)
					? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(ex));
		}

		/**
		 * Delete the node of an owner, unless another owner of its JVM has got it since.
		 */
		CompletableFuture<Boolean> delete(Owner owner) {
			return this.requests.delete(this.nodes.pathOf(owner.node()), owner.stat().getVersion())
				.exceptionallyCompose((ex) -> isOutdated(ex) ? CompletableFuture.completedFuture(false)
						: CompletableFuture.failedFuture(ex));
		}

		private static boolean isOutdated(Throwable failure) {
			return failure instanceof KeeperException.BadVersionException
					|| failure.getCause() instanceof KeeperException.BadVersionException;
		}

	}

	private record Owner(NodeName node, Stat stat) {
	}

}
