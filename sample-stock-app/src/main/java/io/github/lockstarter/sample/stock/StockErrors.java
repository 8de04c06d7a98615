// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import io.github.lockstarter.LockException;
import io.github.lockstarter.LockLostException;

/**
 * What went wrong, as HTTP.
 */
@RestControllerAdvice
class StockErrors {

	@ExceptionHandler
	ProblemDetail soldOut(SoldOutException ex) {
		return problem(HttpStatus.CONFLICT, ex);
	}

	@ExceptionHandler
	ProblemDetail unknownProduct(UnknownProductException ex) {
		return problem(HttpStatus.NOT_FOUND, ex);
	}

	@ExceptionHandler
	ProblemDetail unknownStrategy(UnknownStrategyException ex) {
		return problem(HttpStatus.BAD_REQUEST, ex);
	}

	/**
	 * Contended, unavailable, interrupted or too late: nothing was sold, and trying again
	 * may help.
	 */
	@ExceptionHandler({ LockException.class, LateOwnerException.class })
	ResponseEntity<ProblemDetail> noLock(RuntimeException ex) {
		return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
			.header(HttpHeaders.RETRY_AFTER, "1")
			.body(problem(HttpStatus.SERVICE_UNAVAILABLE, ex));
	}

	/**
	 * The sale may have happened, so nobody is invited to try again.
	 */
	@ExceptionHandler
	ProblemDetail lostLock(LockLostException ex) {
		return problem(HttpStatus.INTERNAL_SERVER_ERROR, ex);
	}

	private static ProblemDetail problem(HttpStatus status, RuntimeException ex) {
		return ProblemDetail.forStatusAndDetail(status, String.valueOf(ex.getMessage()));
	}

}
