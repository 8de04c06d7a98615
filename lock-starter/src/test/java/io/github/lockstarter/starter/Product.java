// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity
public class Product {

	@Id
	private Long id;

	public Product() {
	}

	public Product(Long id) {
		this.id = id;
	}

	Long id() {
		return this.id;
	}

}
