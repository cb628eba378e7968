import { Router } from 'express';

/**
 * `GET /.well-known/authzen-configuration` (AuthZEN section 9): where the policy decision point is asked.
 * Where its identifier has a path, clients look for the metadata with that path at the end.
 */
export function createMetadataRouter(url: string): Router {
  const metadata = {
    policy_decision_point: url,
    access_evaluation_endpoint: url + evaluationPath,
    access_evaluations_endpoint: url + evaluationsPath,
  };
  const router = Router();
  router
    .route([wellKnown, wellKnown + new URL(url).pathname.replace(/\/$/, '')])
    .get((_request, response) => void response.set('Cache-Control', 'max-age=600').json(metadata))
    .all((_request, response) => {
      response.status(405).set('Allow', 'GET, HEAD').type('text/plain').send('Ask for the metadata by GET.');
    });
  return router;
}

const wellKnown = '/.well-known/authzen-configuration';
export const evaluationPath = '/access/v1/evaluation';
export const evaluationsPath = '/access/v1/evaluations';
