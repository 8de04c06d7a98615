// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.springframework.data.repository.CrudRepository;

import io.github.lockstarter.DistributedLock;

/**
 * A repository with a lock.
 */
public interface Products extends CrudRepository<Product, Long> {

	@Override
	@DistributedLock(name = "product")
	<S extends Product> S save(S product);

}
